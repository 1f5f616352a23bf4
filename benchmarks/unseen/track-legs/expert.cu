// A thread per leg; sine and cosine of a fix are computed once per warp lane and handed to the neighbour by
// a shuffle. Angles stay in degrees for sincospi, which needs no argument reduction by pi.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) legs_of(const double* __restrict__ lat, const double* __restrict__ lon,
                                               double* __restrict__ metres, double* __restrict__ course, int fixes) {
    constexpr double radius = 6371008.8, pi = 3.14159265358979323846;
    const int lane = threadIdx.x % 32;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int at = min(i, fixes - 1);
    const double la = lat[at], lo = lon[at];
    double s1, c1;
    sincospi(la / 180.0, &s1, &c1);
    double la2 = __shfl_down_sync(0xffffffffu, la, 1), lo2 = __shfl_down_sync(0xffffffffu, lo, 1);
    double s2 = __shfl_down_sync(0xffffffffu, s1, 1), c2 = __shfl_down_sync(0xffffffffu, c1, 1);
    if (i >= fixes - 1) return;
    if (lane == 31) {
        la2 = lat[i + 1];
        lo2 = lon[i + 1];
        sincospi(la2 / 180.0, &s2, &c2);
    }
    double t, c;
    sincospi((lo2 - lo) / 360.0, &t, &c);
    const double s = sinpi((la2 - la) / 360.0);
    const double a = s * s + c1 * c2 * t * t;
    metres[i] = 2.0 * radius * asin(sqrt(fmin(a, 1.0)));
    const double y = 2.0 * t * c * c2, x = c1 * s2 - s1 * c2 * (1.0 - 2.0 * t * t);
    course[i] = atan2(y, x) * (180.0 / pi);
}

extern "C" void track_legs(const double* lat, const double* lon, double* metres, double* course, int fixes) {
    if (fixes < 2) return;
    legs_of<<<(fixes + 255) / 256, 256>>>(lat, lon, metres, course, fixes);
}
