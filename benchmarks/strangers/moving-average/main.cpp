#include <cstdio>
#include <vector>

namespace signal {
std::vector<double> moving_average(const std::vector<double>& samples, std::size_t window);
}

int main() {
    for (std::size_t n : {0, 1, 5, 10000}) {
        for (std::size_t window : {0, 1, 16, 300}) {
            std::vector<double> x(n);
            for (std::size_t i = 0; i < n; ++i) x[i] = (i * 7919 % 1009) / 1009.0;
            const std::vector<double> y = signal::moving_average(x, window);
            double sum = 0;
            for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * (i % 3 + 1);
            std::printf("%zu %zu: %zu %.6f\n", n, window, y.size(), sum);
        }
    }
}
