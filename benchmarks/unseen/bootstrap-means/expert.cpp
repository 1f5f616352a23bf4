// Samples over the threads; within one, hashes and gathers of 16 draws at a time, added up in double.
#include <cstdint>

static inline uint32_t mixed(uint32_t h) {
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    h ^= h >> 16;
    return h;
}

extern "C" void bootstrap_means(const float* __restrict x, double* __restrict mean, unsigned seed, int n,
                                int resamples) {
#pragma omp parallel for schedule(static)
    for (int b = 0; b < resamples; ++b) {
        const uint32_t key = mixed(seed ^ mixed((uint32_t)b * 0x9e3779b9u));
        double sum = 0;
#pragma omp simd reduction(+ : sum) simdlen(16)
        for (int i = 0; i < n; ++i) {
            const int at = (int)(((uint64_t)mixed(key + (uint32_t)i) * (uint32_t)n) >> 32);
            sum += x[at];
        }
        mean[b] = sum / n;
    }
}
