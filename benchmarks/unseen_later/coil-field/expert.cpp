// Points are the lanes of vectors; the distance to a node is computed once for the two segments that meet there.
#pragma GCC optimize("no-math-errno", "no-trapping-math")  // else roots are not vectorized

#include <algorithm>
#include <cmath>

namespace {
constexpr int kWide = 16;  // two vectors of doubles: their roots and divisions overlap
}

extern "C" void coil_field(const double* __restrict wire, const double* __restrict points, double* __restrict field,
                           double current, double core, int nodes, int count) {
    const double scale = 1e-7 * current, core2 = core * core;
#pragma omp parallel for schedule(static)
    for (int first = 0; first < count; first += kWide) {
        const int lanes = std::min(kWide, count - first);
        alignas(64) double px[kWide], py[kWide], pz[kWide], ax[kWide], ay[kWide], az[kWide], la[kWide];
        alignas(64) double bx[kWide] = {}, by[kWide] = {}, bz[kWide] = {};
        for (int t = 0; t < kWide; ++t) {
            const double* p = points + 3 * (size_t)(first + std::min(t, lanes - 1));
            px[t] = p[0], py[t] = p[1], pz[t] = p[2];
        }
#pragma omp simd
        for (int t = 0; t < kWide; ++t) {
            ax[t] = px[t] - wire[0], ay[t] = py[t] - wire[1], az[t] = pz[t] - wire[2];
            la[t] = __builtin_sqrt(ax[t] * ax[t] + ay[t] * ay[t] + az[t] * az[t]);
        }
        for (int s = 1; s < nodes; ++s) {
            const double wx = wire[3 * s], wy = wire[3 * s + 1], wz = wire[3 * s + 2];
#pragma omp simd
            for (int t = 0; t < kWide; ++t) {
                const double x = px[t] - wx, y = py[t] - wy, z = pz[t] - wz;
                const double lb = __builtin_sqrt(x * x + y * y + z * z), product = la[t] * lb;
                const double dot = ax[t] * x + ay[t] * y + az[t] * z;
                const double weight = (la[t] + lb) / (product * (product + dot + core2) + 1e-12);
                bx[t] += (ay[t] * z - az[t] * y) * weight;
                by[t] += (az[t] * x - ax[t] * z) * weight;
                bz[t] += (ax[t] * y - ay[t] * x) * weight;
                ax[t] = x, ay[t] = y, az[t] = z, la[t] = lb;
            }
        }
        for (int t = 0; t < lanes; ++t) {
            double* b = field + 3 * (size_t)(first + t);
            b[0] = scale * bx[t], b[1] = scale * by[t], b[2] = scale * bz[t];
        }
    }
}
