#include <cuda_runtime.h>
#include <cmath>

__constant__ int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ double w[9] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};
__global__ void kernel(double* f_new, const double* f_old, int nx, int ny, double omega) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= nx) return;
    double f[9], rho = 0, ux = 0, uy = 0;
    for (int d = 0; d < 9; ++d) {
        int xs = (x - cx[d] + nx) % nx, ys = (y - cy[d] + ny) % ny;
        f[d] = f_old[9 * (ys * nx + xs) + d];
        rho += f[d];
        ux += f[d] * cx[d];
        uy += f[d] * cy[d];
    }
    ux /= rho;
    uy /= rho;
    for (int d = 0; d < 9; ++d) {
        double cu = cx[d] * ux + cy[d] * uy;
        double feq = w[d] * rho * (1.0 + 3.0 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy));
        f_new[9 * (y * nx + x) + d] = f[d] + omega * (feq - f[d]);
    }
}
void launch(double* f_new, const double* f_old, int nx, int ny, double omega) {
    if (nx > 0 && ny > 0) kernel<<<dim3((nx + 127) / 128, ny), 128>>>(f_new, f_old, nx, ny, omega);
}

// Device memory, kept from call to call and made anew where a call needs more.
// Not for several threads at once.
static void* device_memory(int which, size_t bytes) {
    static void* memory[2];
    static size_t room[2];
    if (bytes > room[which]) {
        cudaFree(memory[which]);
        memory[which] = nullptr;
        room[which] = cudaMalloc(&memory[which], bytes) == cudaSuccess ? bytes : 0;
    }
    return memory[which];
}

extern "C" void stream_and_collide_entry(double* f_new, const double* f_old, int nx, int ny, double omega) {
    const size_t f_new_bytes = sizeof(double) * ny * nx * 9;
    const size_t f_old_bytes = sizeof(double) * ny * nx * 9;
    double* d_f_new = static_cast<double*>(device_memory(0, f_new_bytes));
    double* d_f_old = static_cast<double*>(device_memory(1, f_old_bytes));
    cudaMemcpy(d_f_old, f_old, f_old_bytes, cudaMemcpyHostToDevice);
    launch(d_f_new, d_f_old, nx, ny, omega);
    cudaMemcpy(f_new, d_f_new, f_new_bytes, cudaMemcpyDeviceToHost);
}
