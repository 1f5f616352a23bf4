#include <cmath>

// Prices of European call options.
extern "C" void black_scholes_entry(const float* spot, const float* strike, const float* years, float* call, int n) {
    const float rate = 0.02f, volatility = 0.3f;
    for (int i = 0; i < n; ++i) {
        const float root = std::sqrt(years[i]);
        const float d1 = (std::log(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
                         (volatility * root);
        const float d2 = d1 - volatility * root;
        const float below1 = 0.5f * std::erfc(-d1 * 0.70710678f);
        const float below2 = 0.5f * std::erfc(-d2 * 0.70710678f);
        call[i] = spot[i] * below1 - strike[i] * std::exp(-rate * years[i]) * below2;
    }
}
