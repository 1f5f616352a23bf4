// A block per quadrant and angle; a thread keeps a row and is one cell behind the row before it, whose flow comes
// through shared memory (two buffers, one barrier per step). Grids with more rows than threads go in strips, and
// a strip leaves what flows out of it by column.
#include <cuda_runtime.h>

constexpr int kRows = 512;

__global__ void __launch_bounds__(kRows) sweep(const double* __restrict__ sigma, const double* __restrict__ source,
                                               const double* __restrict__ mu, const double* __restrict__ eta,
                                               const double* __restrict__ weight, double* __restrict__ flux, double h,
                                               int nx, int ny) {
    extern __shared__ double between[];  // flow into the strip by column
    __shared__ double passed[2][kRows + 1];
    const int angle = blockIdx.x, quadrant = blockIdx.y, t = threadIdx.x, rows = blockDim.x;
    const bool right = quadrant % 2 == 0, up = quadrant / 2 == 0;
    const double across_x = 2.0 * mu[angle] / h, across_y = 2.0 * eta[angle] / h, share = weight[angle];
    for (int i = t; i < nx; i += rows) between[i] = 0.0;
    __syncthreads();
    for (int strip = 0; strip < ny; strip += rows) {
        const int row = strip + t, here = min(rows, ny - strip);
        const size_t line = (size_t)(up ? row : ny - 1 - row) * nx;
        double from_x = 0.0;
        for (int step = 0; step < nx + here - 1; ++step) {
            const int col = step - t;
            if (t < here && col >= 0 && col < nx) {
                const size_t cell = line + (right ? col : nx - 1 - col);
                const double from_y = t ? passed[step % 2][t] : between[col];
                const double centre = (source[cell] + across_x * from_x + across_y * from_y) /
                                      (sigma[cell] + across_x + across_y);
                from_x = fmax(2.0 * centre - from_x, 0.0);
                const double to_y = fmax(2.0 * centre - from_y, 0.0);
                if (t == here - 1) between[col] = to_y;  // the first row has read this column before
                else passed[(step + 1) % 2][t + 1] = to_y;
                atomicAdd(flux + cell, share * centre);
            }
            __syncthreads();
        }
    }
}

extern "C" void transport_sweep(const double* sigma, const double* source, const double* mu, const double* eta,
                                const double* weight, double* flux, double h, int nx, int ny, int angles) {
    const int rows = min(kRows, (ny + 31) / 32 * 32);
    cudaMemsetAsync(flux, 0, sizeof(double) * nx * ny, 0);
    sweep<<<dim3(angles, 4), rows, nx * sizeof(double)>>>(sigma, source, mu, eta, weight, flux, h, nx, ny);
}
