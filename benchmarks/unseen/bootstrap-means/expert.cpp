// Samples over the threads. Hashes of 1024 draws become indices as vectors; the reads are then scalar loads with
// four sums in turn, which two load ports do faster than a gather.
#include <cstdint>

static inline uint32_t mixed(uint32_t h) {
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    h ^= h >> 16;
    return h;
}

namespace {
constexpr int kBlock = 1024;

double block_sum(const float* x, const int* at, int count) {
    double a = 0, b = 0, c = 0, d = 0;
    int i = 0;
    for (; i + 3 < count; i += 4) {
        a += x[at[i]];
        b += x[at[i + 1]];
        c += x[at[i + 2]];
        d += x[at[i + 3]];
    }
    for (; i < count; ++i) a += x[at[i]];
    return (a + b) + (c + d);
}
}  // namespace

extern "C" void bootstrap_means(const float* __restrict x, double* __restrict mean, unsigned seed, int n,
                                int resamples) {
#pragma omp parallel for schedule(static)
    for (int b = 0; b < resamples; ++b) {
        const uint32_t key = mixed(seed ^ mixed((uint32_t)b * 0x9e3779b9u));
        alignas(64) int at[kBlock];
        double sum = 0;
        for (int first = 0; first < n; first += kBlock) {
            const int count = n - first < kBlock ? n - first : kBlock;
#pragma omp simd
            for (int i = 0; i < count; ++i) {
                at[i] = (int)(((uint64_t)mixed(key + (uint32_t)(first + i)) * (uint32_t)n) >> 32);
            }
            sum += block_sum(x, at, count);
        }
        mean[b] = sum / n;
    }
}
