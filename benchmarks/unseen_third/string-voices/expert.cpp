// A string in the order of time is y[t + period] = half (y[t] + y[t + 1]): no ring, and vectors as long as the period.
// Voices to the threads, each with a mix of its own, added up at the end.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace {
constexpr int kBlock = 4096;

inline void smooth(float* __restrict to, const float* __restrict from, float half, int count) {
#pragma omp simd
    for (int k = 0; k < count; ++k) to[k] = half * (from[k] + from[k + 1]);
}

inline void add(double* __restrict mix, const float* __restrict y, float loud, int count) {
#pragma omp simd
    for (int k = 0; k < count; ++k) mix[k] += (double)(loud * y[k]);
}
}  // namespace

extern "C" void string_voices(const float* __restrict pluck, const int* __restrict period,
                              const float* __restrict decay, const float* __restrict gain, double* __restrict mix,
                              int voices, int longest, int samples) {
    std::fill(mix, mix + samples, 0.0);
#pragma omp parallel
    {
        std::vector<double> own(samples);
        std::vector<float> y(longest + kBlock);
#pragma omp for schedule(dynamic)
        for (int v = 0; v < voices; ++v) {
            const int n = period[v];
            const float half = 0.5f * decay[v];
            std::copy(pluck + (size_t)v * longest, pluck + (size_t)v * longest + n, y.begin());
            for (int first = 0; first < samples; first += kBlock) {
                const int here = std::min(kBlock, samples - first);
                for (int t = 0; t < here; t += n - 1) {
                    const int count = std::min(n - 1, here - t);
                    smooth(&y[n + t], &y[t], half, count);
                }
                add(own.data() + first, y.data(), gain[v], here);
                std::memmove(y.data(), y.data() + here, sizeof(float) * n);
            }
        }
        // one thread after the other: a pass over the mix is short beside the voices
#pragma omp critical
        for (int s = 0; s < samples; ++s) mix[s] += own[s];
    }
}
