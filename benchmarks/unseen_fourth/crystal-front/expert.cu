// A launch per step, a tile of 32 by 8 cells per block: the phase with a halo of two cells, then the front with one, both
// in shared memory, so that a step reads and writes each field once. The last step writes the answer.
#include <cuda_runtime.h>

constexpr int kX = 32, kY = 8;

__device__ __forceinline__ int within(int i, int n) { return min(max(i, 0), n - 1); }

__global__ void __launch_bounds__(kX* kY) one_step(const double* __restrict__ p, const double* __restrict__ t,
                                                   double* __restrict__ q, double* __restrict__ u, double strength,
                                                   double cool, double latent, double dt, int ny, int nx) {
    __shared__ double phase[kY + 4][kX + 4];
    __shared__ double gx[kY + 2][kX + 2], gy[kY + 2][kX + 2], k[kY + 2][kX + 2], tx[kY + 2][kX + 2], ty[kY + 2][kX + 2];
    const int x0 = blockIdx.x * kX, y0 = blockIdx.y * kY, id = threadIdx.y * kX + threadIdx.x;
    for (int i = id; i < (kY + 4) * (kX + 4); i += kX * kY) {
        const int r = i / (kX + 4), c = i % (kX + 4);
        phase[r][c] = p[(size_t)within(y0 + r - 2, ny) * nx + within(x0 + c - 2, nx)];
    }
    __syncthreads();
    for (int i = id; i < (kY + 2) * (kX + 2); i += kX * kY) {
        const int r = i / (kX + 2), c = i % (kX + 2);
        const int y = within(y0 + r - 1, ny), x = within(x0 + c - 1, nx);  // beyond the grid: its edge
        const int row = y - y0 + 2, column = x - x0 + 2;
        const double a = 0.5 * (phase[row][within(x + 1, nx) - x0 + 2] - phase[row][within(x - 1, nx) - x0 + 2]);
        const double b = 0.5 * (phase[within(y + 1, ny) - y0 + 2][column] - phase[within(y - 1, ny) - y0 + 2][column]);
        const double xx = a * a, yy = b * b, scale = 1.0 / ((xx + yy) * (xx + yy) + 1e-8);
        const double width = 1.0 - 3.0 * strength + 4.0 * strength * (xx * xx + yy * yy) * scale;
        const double twist = width * (-16.0 * strength * a * b * (xx - yy) * scale);
        gx[r][c] = a;
        gy[r][c] = b;
        k[r][c] = width * width;
        tx[r][c] = twist * a;
        ty[r][c] = twist * b;
    }
    __syncthreads();
    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= nx || y >= ny) return;
    const int r = threadIdx.y + 1, c = threadIdx.x + 1;
    const double turned = 0.5 * (tx[r + 1][c] - tx[r - 1][c]) - 0.5 * (ty[r][c + 1] - ty[r][c - 1]);
    const double along = 0.5 * (k[r][c + 1] - k[r][c - 1]) * gx[r][c] + 0.5 * (k[r + 1][c] - k[r - 1][c]) * gy[r][c];
    const size_t here = (size_t)y * nx + x, up = (size_t)within(y - 1, ny) * nx + x;
    const size_t down = (size_t)within(y + 1, ny) * nx + x, row = (size_t)y * nx;
    const double now = phase[r + 1][c + 1], warm = t[here];
    const double cold = cool * atan(10.0 * (1.0 - warm));
    const double push = now * (1.0 - now) * (now - 0.5 + cold);
    const double curved = phase[r + 1][c] + phase[r + 1][c + 2] + phase[r][c + 1] + phase[r + 2][c + 1] - 4.0 * now;
    const double grown = dt * (turned + along + k[r][c] * curved + 4.0 * push);
    q[here] = now + grown;
    const double spread = t[row + within(x - 1, nx)] + t[row + within(x + 1, nx)] + t[up] + t[down] - 4.0 * warm;
    u[here] = warm + dt * spread + latent * grown;
}

extern "C" void crystal_front(const double* phase0, const double* heat0, double* phase, double* heat, double strength,
                              double drive, double latent, double dt, int ny, int nx, int steps) {
    const size_t cells = (size_t)ny * nx;
    double* between;
    cudaMallocAsync(&between, sizeof(double) * 2 * cells, 0);
    const double *p = phase0, *t = heat0;
    for (int step = 0; step < steps; ++step) {
        const bool ours = (steps - 1 - step) % 2 == 0;
        double *q = ours ? phase : between, *u = ours ? heat : between + cells;
        one_step<<<dim3((nx + kX - 1) / kX, (ny + kY - 1) / kY), dim3(kX, kY)>>>(
            p, t, q, u, strength, drive / 3.14159265358979323846, latent, dt, ny, nx);
        p = q;
        t = u;
    }
    cudaFreeAsync(between, 0);
}
