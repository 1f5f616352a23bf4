// Rows of the triangle in blocks of 512 partners: squared distances, lags and squared differences as vectors,
// then a scalar loop that adds them to sums of the thread's own, four of them in turn so that pairs in the same
// lag do not wait for each other. The lag is guessed by a float root and put right in integers, which is exact.
#pragma GCC optimize("no-math-errno", "no-trapping-math")  // else roots and selects are not vectorized

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {
constexpr int kBlock = 512, kCopies = 4;

struct Lag {
    double sum;
    long long count;
};
}  // namespace

extern "C" void variogram(const int* x, const int* y, const float* value, double* gamma, long long* pairs, int width,
                          int points, int lags) {
    std::vector<Lag> total(lags, Lag{0, 0});
    const float inverse = 1.0f / width;
    const int last = lags;  // the lag of all that is farther
    // squared distances of places that are 20,000 m apart at most in x and y fit 32 bits, and so do those of lags
    const int far = (int)std::min<long long>((long long)lags * width * ((long long)lags * width), INT32_MAX);
#pragma omp parallel
    {
        std::vector<Lag> own((size_t)(lags + 1) * kCopies, Lag{0, 0});
        alignas(64) int lag[kBlock];
        alignas(64) double square[kBlock];
#pragma omp for schedule(dynamic, 16)
        for (int i = 0; i < points - 1; ++i) {
            const int xi = x[i], yi = y[i];
            const double vi = value[i];
            for (int first = i + 1; first < points; first += kBlock) {
                const int count = std::min(kBlock, points - first);
                const int *xj = x + first, *yj = y + first;
                const float* vj = value + first;
#pragma omp simd
                for (int j = 0; j < count; ++j) {
                    const int dx = xi - xj[j], dy = yi - yj[j], d2 = dx * dx + dy * dy;
                    int guess = (int)(__builtin_sqrtf((float)d2) * inverse);
                    guess = guess > last ? last : guess;
                    const int low = guess * width, high = low + width;
                    guess -= low * low > d2;
                    guess += high <= 46340 && high * high <= d2;
                    lag[j] = d2 >= far || guess > last ? last : guess;
                }
#pragma omp simd
                for (int j = 0; j < count; ++j) {
                    const double difference = vi - vj[j];
                    square[j] = difference * difference;
                }
                for (int j = 0; j < count; ++j) {
                    Lag& to = own[(size_t)lag[j] * kCopies + j % kCopies];
                    to.sum += square[j];
                    ++to.count;
                }
            }
        }
#pragma omp critical
        for (int l = 0; l < lags; ++l) {
            for (int c = 0; c < kCopies; ++c) {
                total[l].sum += own[(size_t)l * kCopies + c].sum;
                total[l].count += own[(size_t)l * kCopies + c].count;
            }
        }
    }
    for (int l = 0; l < lags; ++l) {
        gamma[l] = total[l].count > 0 ? 0.5 * total[l].sum / total[l].count : 0.0;
        pairs[l] = total[l].count;
    }
}
