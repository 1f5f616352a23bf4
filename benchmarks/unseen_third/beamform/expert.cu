// A thread per pixel, 32 side by side and 8 deep: they read neighbouring samples, which L1 holds. Roots are a root in
// single precision and one step of Newton in double.
#include <cuda_runtime.h>

__device__ __forceinline__ double root(double v) {
    const double guess = (double)rsqrtf((float)v), y = v * guess;
    return y + 0.5 * guess * (v - y * y);
}

__global__ void __launch_bounds__(256) pixels(const float* __restrict__ echo, const double* __restrict__ place,
                                              float* __restrict__ image, double pitch, double per_mm, int elements,
                                              int samples, int nz, int nx) {
    const int ix = blockIdx.x * 32 + threadIdx.x % 32, iz = blockIdx.y * 8 + threadIdx.x / 32;
    if (ix >= nx || iz >= nz) return;
    const double z = (iz + 1) * pitch, x = (ix - 0.5 * (nx - 1)) * pitch, zz = z * z, per_reach = 2.0 / z;
    const double most = samples - 1.0;
    double sum = 0.0;
#pragma unroll 2
    for (int e = 0; e < elements; ++e) {
        const double aside = x - place[e], u = aside * per_reach, weight = 1.0 - u * u;
        if (weight > 0.0) {
            const double at = fmin((z + root(zz + aside * aside)) * per_mm, most);
            const int i = min((int)at, samples - 2);
            const double part = at - i;
            const float* line = echo + (size_t)e * samples + i;
            const double a = line[0], b = line[1];
            sum += weight * (a * (1.0 - part) + b * part);
        }
    }
    image[(size_t)iz * nx + ix] = (float)sum;
}

extern "C" void beamform(const float* echo, const double* place, float* image, double pitch, double per_mm,
                         int elements, int samples, int nz, int nx) {
    pixels<<<dim3((nx + 31) / 32, (nz + 7) / 8), 256>>>(echo, place, image, pitch, per_mm, elements, samples, nz, nx);
}
