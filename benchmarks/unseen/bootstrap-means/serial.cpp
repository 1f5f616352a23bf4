// Bootstrap: the mean of each of `resamples` samples, drawn from x with replacement. Draw i of sample b is
// a hash of (seed, b, i), so that samples can be drawn again one by one.
#include <cstdint>

static uint32_t mixed(uint32_t h) {
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    h ^= h >> 16;
    return h;
}

static uint32_t draw(uint32_t key, uint32_t i, uint32_t n) { return (uint32_t)(((uint64_t)mixed(key + i) * n) >> 32); }

extern "C" void bootstrap_means(const float* x, double* mean, unsigned seed, int n, int resamples) {
    for (int b = 0; b < resamples; ++b) {
        const uint32_t key = mixed(seed ^ mixed((uint32_t)b * 0x9e3779b9u));
        double sum = 0;
        for (int i = 0; i < n; ++i) sum += x[draw(key, (uint32_t)i, (uint32_t)n)];
        mean[b] = sum / n;
    }
}
