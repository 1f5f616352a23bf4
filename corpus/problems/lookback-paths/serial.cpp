#include <cmath>

// payoff[p] = last price - lowest price of a path that begins at spot and grows by exp(drift + volatility * z[p][t]).
extern "C" void lookback_paths(const float* z, float* payoff, float spot, float drift, float volatility, int paths, int steps) {
    for (int p = 0; p < paths; ++p) {
        float price = spot, low = spot;
        for (int t = 0; t < steps; ++t) {
            price *= std::exp(drift + volatility * z[(long long)p * steps + t]);
            low = price < low ? price : low;
        }
        payoff[p] = price - low;
    }
}
