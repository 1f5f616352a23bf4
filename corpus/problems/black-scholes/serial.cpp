#include <cmath>

// Prices of calls and puts: price * N(d1) - strike * exp(-rate * years) * N(d2), and the put alike.
extern "C" void black_scholes(const float* price, const float* strike, const float* years, float* call, float* put,
                              float rate, float volatility, int n) {
    for (int i = 0; i < n; ++i) {
        const float spread = volatility * std::sqrt(years[i]);
        const float d1 = (std::log(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / spread;
        const float d2 = d1 - spread;
        const float discounted = strike[i] * std::exp(-rate * years[i]);
        call[i] = price[i] * 0.5f * std::erfc(-d1 * 0.70710678f) - discounted * 0.5f * std::erfc(-d2 * 0.70710678f);
        put[i] = discounted * 0.5f * std::erfc(d2 * 0.70710678f) - price[i] * 0.5f * std::erfc(d1 * 0.70710678f);
    }
}
