static inline float normal_below(float d) {
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float p = k * (0.31938153f +
                         k * (-0.356563782f +
                              k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228040143267794f * expf(-0.5f * d * d) * p;
    return d > 0 ? 1.0f - tail : tail;
}

void priceOptions(float* callResult, float* putResult, const float* stockPrice,
                  const float* optionStrike, const float* optionYears, int optN) {
    float d2;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < optN; i++) {
        const float s = stockPrice[i], x = optionStrike[i], t = optionYears[i];
        const float root = sqrtf(t);
        const float d1 = (logf(s / x) + (0.02f + 0.5f * 0.30f * 0.30f) * t) / (0.30f * root);
        d2 = d1 - 0.30f * root;
        const float n1 = normal_below(d1), n2 = normal_below(d2), paid = x * expf(-0.02f * t);
        callResult[i] = s * n1 - paid * n2;
        putResult[i] = paid * (1.0f - n2) - s * (1.0f - n1);
    }
}
