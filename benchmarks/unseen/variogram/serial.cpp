// Empirical variogram of samples at places in metres: pairs are sorted by distance into lags of `width` metres,
// and each lag gets half the mean squared difference of their values, and the number of its pairs.
#include <cmath>
#include <vector>

extern "C" void variogram(const int* x, const int* y, const float* value, double* gamma, long long* pairs, int width,
                          int points, int lags) {
    std::vector<double> sum(lags, 0.0);
    std::vector<long long> count(lags, 0);
    for (int i = 0; i < points; ++i) {
        for (int j = i + 1; j < points; ++j) {
            const double dx = x[i] - x[j], dy = y[i] - y[j];
            const int lag = (int)(std::sqrt(dx * dx + dy * dy) / width);
            if (lag >= lags) continue;
            const double difference = (double)value[i] - value[j];
            sum[lag] += difference * difference;
            ++count[lag];
        }
    }
    for (int lag = 0; lag < lags; ++lag) {
        gamma[lag] = count[lag] > 0 ? 0.5 * sum[lag] / count[lag] : 0.0;
        pairs[lag] = count[lag];
    }
}
