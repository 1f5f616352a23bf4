// Vector versions of the elementary functions (libmvec), and each fix's sine and cosine once per block
// instead of four times per leg.
#pragma GCC optimize("no-math-errno", "no-trapping-math")  // else roots and selects are not vectorized

#include <algorithm>
#include <cmath>

// math.h offers these only under -ffast-math; the vector forms are the same ones.
#pragma omp declare simd notinbranch
extern "C" double sin(double) noexcept;
#pragma omp declare simd notinbranch
extern "C" double cos(double) noexcept;
#pragma omp declare simd notinbranch
extern "C" double asin(double) noexcept;
#pragma omp declare simd notinbranch
extern "C" double atan2(double, double) noexcept;

namespace {
constexpr double kEarthRadius = 6371008.8, kDegree = M_PI / 180.0;
constexpr int kBlock = 512;  // legs; five arrays of 4 KiB stay in L1

// Sine and cosine in loops of their own: of one argument in one loop, g++ makes a scalar sincos.
void legs_of(const double* __restrict la, const double* __restrict lo, double* __restrict out, double* __restrict turn,
             int count) {
    alignas(64) double sine[kBlock + 1], cosine[kBlock + 1], half_sine[kBlock], half_cosine[kBlock], square[kBlock];
#pragma omp simd
    for (int i = 0; i <= count; ++i) sine[i] = sin(la[i] * kDegree);
#pragma omp simd
    for (int i = 0; i <= count; ++i) cosine[i] = cos(la[i] * kDegree);
#pragma omp simd
    for (int i = 0; i < count; ++i) half_sine[i] = sin(0.5 * kDegree * (lo[i + 1] - lo[i]));
#pragma omp simd
    for (int i = 0; i < count; ++i) half_cosine[i] = cos(0.5 * kDegree * (lo[i + 1] - lo[i]));
#pragma omp simd
    for (int i = 0; i < count; ++i) {
        const double s = sin(0.5 * kDegree * (la[i + 1] - la[i])), t = half_sine[i];
        const double a = s * s + cosine[i] * cosine[i + 1] * t * t;
        square[i] = a < 1.0 ? a : 1.0;
        // the sine and cosine of the whole angle from those of its half
        const double y = 2.0 * t * half_cosine[i] * cosine[i + 1];
        const double x = cosine[i] * sine[i + 1] - sine[i] * cosine[i + 1] * (1.0 - 2.0 * t * t);
        turn[i] = atan2(y, x) * (180.0 / M_PI);
    }
#pragma omp simd
    for (int i = 0; i < count; ++i) out[i] = 2.0 * kEarthRadius * asin(__builtin_sqrt(square[i]));
}
}  // namespace

extern "C" void track_legs(const double* lat, const double* lon, double* metres, double* course, int fixes) {
    const int legs = fixes - 1;
#pragma omp parallel for schedule(static)
    for (int first = 0; first < legs; first += kBlock) {
        legs_of(lat + first, lon + first, metres + first, course + first, std::min(kBlock, legs - first));
    }
}
