#include <cstddef>
#include <vector>

// The variance of w values in a row, for each place where they fit.
static std::vector<double> variances(const std::vector<double>& x, int w) {
    std::vector<double> out(x.size() - w + 1);
    for (size_t i = 0; i + w <= x.size(); ++i) {
        double mean = 0.0;
        for (int k = 0; k < w; ++k) mean += x[i + k];
        mean /= w;
        double spread = 0.0;
        for (int k = 0; k < w; ++k) {
            const double d = x[i + k] - mean;
            spread += d * d;
        }
        out[i] = spread / w;
    }
    return out;
}

extern "C" void rolling_variance(const double* x, double* out, int n, int w) {
    const std::vector<double> result = variances(std::vector<double>(x, x + n), w);
    for (size_t i = 0; i < result.size(); ++i) out[i] = result[i];
}
