#include <cmath>
#include <vector>

// Prices of American puts by a binomial tree; pay[0] and pay[1] hold the exercise values of even and odd levels.
extern "C" void american_put(const float* spot, const float* strike, const float* years, float* price,
                             float rate, float volatility, int n, int steps) {
    std::vector<float> value(steps + 1), pay[2] = {std::vector<float>(steps + 1), std::vector<float>(steps + 1)};
    for (int o = 0; o < n; ++o) {
        const float dt = years[o] / steps, w = volatility * std::sqrt(dt), down = std::expm1(-w);
        const float up = (std::expm1(rate * dt) - down) / (std::expm1(w) - down), discount = std::exp(-rate * dt);
        const float pu = up * discount, pd = (1.0f - up) * discount;
        for (int j = 0; j <= steps; ++j) {
            pay[0][j] = strike[o] - spot[o] * std::exp(w * (2 * j - steps));
            pay[1][j] = strike[o] - spot[o] * std::exp(w * (2 * j - steps + 1));
            value[j] = pay[0][j] > 0.0f ? pay[0][j] : 0.0f;
        }
        for (int m = 1; m <= steps; ++m) {
            const float* e = pay[m % 2].data() + m / 2;
            for (int j = 0; j <= steps - m; ++j) {
                const float hold = pd * value[j] + pu * value[j + 1];
                value[j] = hold > e[j] ? hold : e[j];
            }
        }
        price[o] = value[0];
    }
}
