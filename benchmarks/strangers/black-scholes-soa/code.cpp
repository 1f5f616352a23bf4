#include <cmath>
#include <cstddef>
#include <cstdlib>

struct OptionBatch {
    float* spot;
    float* strike;
    float* years;
    float* call;
    float* put;
    int count;
};

static const float RISKFREE = 0.02f;
static const float VOLATILITY = 0.30f;

// Polynomial approximation of the cumulative normal distribution (Abramowitz and Stegun 26.2.17)
static float CND(float d) {
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f;
    const float A4 = -1.821255978f, A5 = 1.330274429f;
    const float RSQRT2PI = 0.39894228040143267793994605993438f;

    float K = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float cnd = RSQRT2PI * expf(-0.5f * d * d) *
                (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    if (d > 0) cnd = 1.0f - cnd;
    return cnd;
}

static void bodyBS(float& callResult, float& putResult, float S, float X, float T, float R,
                   float V) {
    float sqrtT = sqrtf(T);
    float d1 = (logf(S / X) + (R + 0.5f * V * V) * T) / (V * sqrtT);
    float d2 = d1 - V * sqrtT;
    float CNDD1 = CND(d1);
    float CNDD2 = CND(d2);
    float expRT = expf(-R * T);
    callResult = S * CNDD1 - X * expRT * CNDD2;
    putResult = X * expRT * (1.0f - CNDD2) - S * (1.0f - CNDD1);
}

void priceOptions(float* callResult, float* putResult, const float* stockPrice,
                  const float* optionStrike, const float* optionYears, int optN) {
    for (int opt = 0; opt < optN; opt++)
        bodyBS(callResult[opt], putResult[opt], stockPrice[opt], optionStrike[opt],
               optionYears[opt], RISKFREE, VOLATILITY);
}

void price(OptionBatch* batch) {
    priceOptions(batch->call, batch->put, batch->spot, batch->strike, batch->years, batch->count);
}
