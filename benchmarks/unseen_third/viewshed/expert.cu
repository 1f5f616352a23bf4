// A thread per cell; neighbours' lines lie beside each other, so heights come from L1. Divisions by the number of a
// step are made once, in a table.
#include <cuda_runtime.h>

__global__ void inverses(double* inverse, int count) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s > 0 && s < count) inverse[s] = 1.0 / s;
}

__global__ void __launch_bounds__(128) lifts(const float* __restrict__ ground, const double* __restrict__ inverse,
                                             double* __restrict__ lift, double eye, int nx, int ny) {
    const int tx = blockIdx.x * 32 + threadIdx.x % 32, ty = blockIdx.y * 4 + threadIdx.x / 32;
    if (tx >= nx || ty >= ny) return;
    const int x = nx / 2, y = ny / 2, dx = abs(tx - x), dy = abs(ty - y);
    const int steps = max(dx, dy), twice = 2 * min(dx, dy);
    const int aside_x = tx < x ? -1 : 1, aside_y = ty < y ? -nx : nx;
    const int on = dx >= dy ? aside_x : aside_y, aside = dx >= dy ? aside_y : aside_x;
    const double seen_from = eye + (double)ground[(size_t)y * nx + x];
    double steepest = -1e30;
    int error = steps;
    const float* at = ground + (size_t)y * nx + x;
#pragma unroll 4
    for (int s = 1; s < steps; ++s) {
        error += twice;
        at += on;
        if (error >= 2 * steps) {
            error -= 2 * steps;
            at += aside;
        }
        steepest = fmax(steepest, ((double)*at - seen_from) * inverse[s]);
    }
    const size_t to = (size_t)ty * nx + tx;
    lift[to] = steps ? fmax(0.0, seen_from + steepest * steps - (double)ground[to]) : 0.0;
}

extern "C" void viewshed(const float* ground, double* lift, double eye, int nx, int ny) {
    const int count = (nx > ny ? nx : ny) + 1;
    double* inverse;
    cudaMallocAsync(&inverse, sizeof(double) * count, 0);
    inverses<<<(count + 127) / 128, 128>>>(inverse, count);
    lifts<<<dim3((nx + 31) / 32, (ny + 3) / 4), 128>>>(ground, inverse, lift, eye, nx, ny);
    cudaFreeAsync(inverse, 0);
}
