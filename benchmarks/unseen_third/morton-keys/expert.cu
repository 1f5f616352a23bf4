// Four points per thread for loads in flight; the bits of both numbers are mixed within one word.
#include <cuda_runtime.h>

__device__ __forceinline__ unsigned place(double value, double low, double scale) {
    const double share = fmin(fmax((value - low) * scale, 0.0), 4294967295.0);
    return (unsigned)share;
}

__device__ __forceinline__ unsigned long long mixed(unsigned high, unsigned low) {
    unsigned long long v = (unsigned long long)high << 32 | low, t;
    t = (v ^ v >> 16) & 0x00000000ffff0000ull;
    v ^= t ^ t << 16;
    t = (v ^ v >> 8) & 0x0000ff000000ff00ull;
    v ^= t ^ t << 8;
    t = (v ^ v >> 4) & 0x00f000f000f000f0ull;
    v ^= t ^ t << 4;
    t = (v ^ v >> 2) & 0x0c0c0c0c0c0c0c0cull;
    v ^= t ^ t << 2;
    t = (v ^ v >> 1) & 0x2222222222222222ull;
    return v ^ t ^ t << 1;
}

__global__ void __launch_bounds__(256) keys_of(const double* __restrict__ longitude,
                                               const double* __restrict__ latitude,
                                               unsigned long long* __restrict__ keys, int n) {
    constexpr double per_east = 4294967296.0 / 360.0, per_north = 4294967296.0 / 180.0;
    const long long first = (long long)blockIdx.x * 1024 + threadIdx.x;
    double x[4], y[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        const long long i = first + 256 * q;
        x[q] = i < n ? longitude[i] : 0.0;
        y[q] = i < n ? latitude[i] : 0.0;
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        const long long i = first + 256 * q;
        if (i < n) keys[i] = mixed(place(x[q], -180.0, per_east), place(y[q], -90.0, per_north));
    }
}

extern "C" void morton_keys(const double* longitude, const double* latitude, unsigned long long* keys, int n) {
    keys_of<<<(n + 1023) / 1024, 256>>>(longitude, latitude, keys, n);
}
