#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

void dft(std::vector<std::complex<double>> const& x, std::vector<std::complex<double>>& out) {
    out.resize(x.size());
    for (size_t k = 0; k < x.size(); ++k) {
        out[k] = std::complex<double>(0, 0);
        for (size_t n = 0; n < x.size(); ++n) {
            const double angle = 2 * M_PI * n * k / x.size();
            out[k] += x[n] * std::complex<double>(std::cos(angle), -std::sin(angle));
        }
    }
}
std::complex<float> weighted(std::complex<float> by, const std::vector<std::complex<float>>& x) {
    std::complex<float> sum = 0;
    for (auto& each : x) sum += by * each;
    return sum;
}

int main() {
    std::vector<std::complex<double>> spectrum;
    dft({{1, 2}, {3, -1}, {0, 4}}, spectrum);
    for (auto& one : spectrum) std::printf("%.6f %.6f\n", one.real(), one.imag());
    const auto sum = weighted({0, 1}, {{1, 2}, {3, 4}});
    std::printf("%g %g\n", sum.real(), sum.imag());
}
