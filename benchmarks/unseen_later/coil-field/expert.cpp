// Points are the lanes of vectors; the distance to a node is computed once for the two segments that meet there.
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace {
constexpr int kWide = 16;  // two vectors of doubles: their roots and divisions overlap

struct Lanes {
    alignas(64) double x[kWide], y[kWide], z[kWide];
};

// As std::sqrt may set errno, g++ makes no vectors of it.
inline void roots_of(double* x) {
#if defined(__AVX512F__)
    for (int t = 0; t < kWide; t += 8) _mm512_store_pd(x + t, _mm512_sqrt_pd(_mm512_load_pd(x + t)));
#elif defined(__AVX__)
    for (int t = 0; t < kWide; t += 4) _mm256_store_pd(x + t, _mm256_sqrt_pd(_mm256_load_pd(x + t)));
#else
    for (int t = 0; t < kWide; ++t) x[t] = std::sqrt(x[t]);
#endif
}

void sum_of(const double* __restrict wire, const Lanes& p, Lanes& b, double core2, int nodes) {
    alignas(64) double ax[kWide], ay[kWide], az[kWide], la[kWide], lb[kWide];
    b = Lanes{};
#pragma omp simd
    for (int t = 0; t < kWide; ++t) {
        ax[t] = p.x[t] - wire[0], ay[t] = p.y[t] - wire[1], az[t] = p.z[t] - wire[2];
        la[t] = ax[t] * ax[t] + ay[t] * ay[t] + az[t] * az[t];
    }
    roots_of(la);
    for (int s = 1; s < nodes; ++s) {
        const double wx = wire[3 * s], wy = wire[3 * s + 1], wz = wire[3 * s + 2];
#pragma omp simd
        for (int t = 0; t < kWide; ++t) {
            const double x = p.x[t] - wx, y = p.y[t] - wy, z = p.z[t] - wz;
            lb[t] = x * x + y * y + z * z;
        }
        roots_of(lb);
#pragma omp simd
        for (int t = 0; t < kWide; ++t) {
            const double x = p.x[t] - wx, y = p.y[t] - wy, z = p.z[t] - wz, product = la[t] * lb[t];
            const double dot = ax[t] * x + ay[t] * y + az[t] * z;
            const double weight = (la[t] + lb[t]) / (product * (product + dot + core2) + 1e-12);
            b.x[t] += (ay[t] * z - az[t] * y) * weight;
            b.y[t] += (az[t] * x - ax[t] * z) * weight;
            b.z[t] += (ax[t] * y - ay[t] * x) * weight;
            ax[t] = x, ay[t] = y, az[t] = z, la[t] = lb[t];
        }
    }
}
}  // namespace

extern "C" void coil_field(const double* wire, const double* points, double* field, double current, double core,
                           int nodes, int count) {
    const double scale = 1e-7 * current;
#pragma omp parallel for schedule(static)
    for (int first = 0; first < count; first += kWide) {
        const int lanes = std::min(kWide, count - first);
        Lanes p, b;
        for (int t = 0; t < kWide; ++t) {
            const double* from = points + 3 * (size_t)(first + std::min(t, lanes - 1));
            p.x[t] = from[0], p.y[t] = from[1], p.z[t] = from[2];
        }
        sum_of(wire, p, b, core * core, nodes);
        for (int t = 0; t < lanes; ++t) {
            double* to = field + 3 * (size_t)(first + t);
            to[0] = scale * b.x[t], to[1] = scale * b.y[t], to[2] = scale * b.z[t];
        }
    }
}
