#include <cuda_runtime.h>
#include <math.h>

__global__ void kernel(double* ez, const double* hx, const double* hy, int sx, int sy, double ceze, double cezh) {
    int n = blockIdx.x * blockDim.x + threadIdx.x + 1, m = blockIdx.y + 1;
    if (n >= sy - 1) return;
    double curl = (hy[(size_t)m * sy + n] - hy[(size_t)(m - 1) * sy + n]) - (hx[(size_t)m * (sy - 1) + n] - hx[(size_t)m * (sy - 1) + n - 1]);
    ez[(size_t)m * sy + n] = ceze * ez[(size_t)m * sy + n] + cezh * curl;
}
void launch(double* ez, const double* hx, const double* hy, int sizeX, int sizeY, double ceze, double cezh) {
    if (sizeX < 3 || sizeY < 3) return;
    kernel<<<dim3((sizeY - 2 + 127) / 128, sizeX - 2), 128>>>(ez, hx, hy, sizeX, sizeY, ceze, cezh);
}

// Device memory, kept from call to call and made anew where a call needs more.
// Not for several threads at once.
static void* device_memory(int which, size_t bytes) {
    static void* memory[3];
    static size_t room[3];
    if (bytes > room[which]) {
        cudaFree(memory[which]);
        memory[which] = nullptr;
        room[which] = cudaMalloc(&memory[which], bytes) == cudaSuccess ? bytes : 0;
    }
    return memory[which];
}

extern "C" void updateE2d_entry(double* ez, const double* hx, const double* hy, int sizeX, int sizeY, double ceze, double cezh) {
    const size_t ez_bytes = sizeof(double) * sizeX * sizeY;
    const size_t hx_bytes = sizeof(double) * sizeX * (sizeY - 1);
    const size_t hy_bytes = sizeof(double) * (sizeX - 1) * sizeY;
    double* d_ez = static_cast<double*>(device_memory(0, ez_bytes));
    double* d_hx = static_cast<double*>(device_memory(1, hx_bytes));
    double* d_hy = static_cast<double*>(device_memory(2, hy_bytes));
    cudaMemcpy(d_ez, ez, ez_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_hx, hx, hx_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_hy, hy, hy_bytes, cudaMemcpyHostToDevice);
    launch(d_ez, d_hx, d_hy, sizeX, sizeY, ceze, cezh);
    cudaMemcpy(ez, d_ez, ez_bytes, cudaMemcpyDeviceToHost);
}
