// Blocks of samples to the threads; a block's sums stay in L1 while track after track is added, in vectors.
#include <algorithm>
#include <cmath>
#include <cstddef>

extern "C" void stem_mixdown(const float* __restrict stems, const float* __restrict gain, const float* __restrict pan,
                             float* __restrict left, float* __restrict right, int tracks, int samples) {
    constexpr int block = 2048;
#pragma omp parallel for schedule(static)
    for (int first = 0; first < samples; first += block) {
        alignas(64) float l[block], r[block];
        const int here = std::min(block, samples - first);
        for (int k = 0; k < here; ++k) l[k] = r[k] = 0;
        int t = 0;
        for (; t + 4 <= tracks; t += 4) {  // four at once: a quarter of the traffic to the sums
            const float* a = stems + (size_t)t * samples + first;
            const float *b = a + samples, *c = b + samples, *d = c + samples;
            const float ga = gain[t], gb = gain[t + 1], gc = gain[t + 2], gd = gain[t + 3];
            const float pa = pan[t], pb = pan[t + 1], pc = pan[t + 2], pd = pan[t + 3];
#pragma omp simd
            for (int k = 0; k < here; ++k) {
                const float xa = a[k] * ga, xb = b[k] * gb, xc = c[k] * gc, xd = d[k] * gd;
                l[k] = (((l[k] + xa * (1 - pa)) + xb * (1 - pb)) + xc * (1 - pc)) + xd * (1 - pd);
                r[k] = (((r[k] + xa * pa) + xb * pb) + xc * pc) + xd * pd;
            }
        }
        for (; t < tracks; ++t) {
            const float* a = stems + (size_t)t * samples + first;
            const float g = gain[t], p = pan[t];
#pragma omp simd
            for (int k = 0; k < here; ++k) {
                const float x = a[k] * g;
                l[k] += x * (1 - p);
                r[k] += x * p;
            }
        }
#pragma omp simd
        for (int k = 0; k < here; ++k) {
            left[first + k] = l[k] / (1 + std::fabs(l[k]));
            right[first + k] = r[k] / (1 + std::fabs(r[k]));
        }
    }
}
