// Rows of pixels to the threads. An element sees a stretch of a row; delays and weights of its pixels are made by
// vectors, the two neighbouring samples of each come by one load of 8 bytes (gathers are slower).
#pragma GCC optimize("no-math-errno", "no-trapping-math")  // else roots and selects are not vectorized
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace {
constexpr int kPixels = 512;

struct Stretch {
    alignas(64) double weight[kPixels], part[kPixels];
    alignas(64) float pair[2 * kPixels];
    alignas(64) int at[kPixels];
};

// Of pixels begin to end of a block; `aside` is where its first lies beside the element. Kept apart from the threads'
// loop, where g++ forgets that roots set no errno.
__attribute__((noinline)) void delays(Stretch& s, int begin, int end, double aside, double pitch, double z,
                                      double per_mm, int samples) {
    const double per_reach = 2 / z, most = samples - 1.0, zz = z * z;
#pragma omp simd
    for (int k = begin; k < end; ++k) {
        const double x = aside + k * pitch, u = x * per_reach;
        const double left = 1 - u * u;
        double at = (z + __builtin_sqrt(zz + x * x)) * per_mm;
        at = at < most ? at : most;
        int i = (int)at;
        i = i < samples - 2 ? i : samples - 2;
        s.weight[k] = left > 0 ? left : 0;
        s.part[k] = at - i;
        s.at[k] = i;
    }
}

// Kept apart, as g++ makes gathers of it otherwise.
__attribute__((noinline, optimize("no-tree-vectorize"))) void pairs(Stretch& s, const float* line, int begin, int end) {
    for (int k = begin; k < end; ++k) std::memcpy(s.pair + 2 * k, line + s.at[k], 2 * sizeof(float));
}
}  // namespace

extern "C" void beamform(const float* __restrict echo, const double* __restrict place, float* __restrict image,
                         double pitch, double per_mm, int elements, int samples, int nz, int nx) {
    const double middle = 0.5 * (nx - 1);
#pragma omp parallel for collapse(2) schedule(dynamic, 4)
    for (int row = 0; row < nz; ++row) {
        for (int block = 0; block < nx; block += kPixels) {
            const int here = std::min(kPixels, nx - block);
            const int iz = nz - 1 - row;  // deep rows are the long ones
            const double z = (iz + 1) * pitch, reach = 0.5 * z;
            Stretch s;
            alignas(64) double sum[kPixels] = {};
            for (int e = 0; e < elements; ++e) {
                const double center = place[e];
                // one pixel more on each side: the weight decides
                const double low = std::floor((center - reach) / pitch + middle) - 1 - block;
                const double high = std::ceil((center + reach) / pitch + middle) + 2 - block;
                const int begin = (int)std::min(std::max(0.0, low), (double)here);
                const int end = (int)std::min((double)here, high);
                const float* line = echo + (size_t)e * samples;
                delays(s, begin, end, (block - middle) * pitch - center, pitch, z, per_mm, samples);
                pairs(s, line, begin, end);
#pragma omp simd
                for (int k = begin; k < end; ++k) {
                    const double a = s.pair[2 * k], b = s.pair[2 * k + 1];
                    sum[k] += s.weight[k] * (a * (1 - s.part[k]) + b * s.part[k]);
                }
            }
            for (int k = 0; k < here; ++k) image[(size_t)iz * nx + block + k] = (float)sum[k];
        }
    }
}
