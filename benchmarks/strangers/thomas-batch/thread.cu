#include <cuda_runtime.h>
#include <cmath>
#include <cstddef>

__global__ void kernel(const double* a, const double* b, const double* c, double* d, double* cp, size_t systems, size_t n) {
    size_t s = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (s >= systems) return;
    a += s * n, b += s * n, c += s * n, d += s * n, cp += s * n;
    cp[0] = c[0] / b[0];
    d[0] /= b[0];
    for (size_t i = 1; i < n; ++i) {
        double m = 1.0 / (b[i] - a[i] * cp[i - 1]);
        cp[i] = c[i] * m;
        d[i] = (d[i] - a[i] * d[i - 1]) * m;
    }
    for (size_t i = n - 1; i-- > 0;) d[i] -= cp[i] * d[i + 1];
}
void launch(const double* a, const double* b, const double* c, double* d, size_t systems, size_t n) {
    if (n == 0 || systems == 0) return;
    static double* cp;
    static size_t room;
    if (systems * n > room) {
        cudaFree(cp);
        room = cudaMalloc(&cp, systems * n * sizeof(double)) == cudaSuccess ? systems * n : 0;
    }
    kernel<<<(systems + 127) / 128, 128>>>(a, b, c, d, cp, systems, n);
}

// Device memory, kept from call to call and made anew where a call needs more.
// Not for several threads at once.
static void* device_memory(int which, size_t bytes) {
    static void* memory[4];
    static size_t room[4];
    if (bytes > room[which]) {
        cudaFree(memory[which]);
        memory[which] = nullptr;
        room[which] = cudaMalloc(&memory[which], bytes) == cudaSuccess ? bytes : 0;
    }
    return memory[which];
}

extern "C" void adi_solve_all_entry(const double* a, const double* b, const double* c, double* d, size_t systems, size_t n) {
    const size_t a_bytes = sizeof(double) * systems * n;
    const size_t b_bytes = sizeof(double) * systems * n;
    const size_t c_bytes = sizeof(double) * systems * n;
    const size_t d_bytes = sizeof(double) * systems * n;
    double* d_a = static_cast<double*>(device_memory(0, a_bytes));
    double* d_b = static_cast<double*>(device_memory(1, b_bytes));
    double* d_c = static_cast<double*>(device_memory(2, c_bytes));
    double* d_d = static_cast<double*>(device_memory(3, d_bytes));
    cudaMemcpy(d_a, a, a_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, b_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_c, c, c_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_d, d, d_bytes, cudaMemcpyHostToDevice);
    launch(d_a, d_b, d_c, d_d, systems, n);
    cudaMemcpy(d, d_d, d_bytes, cudaMemcpyDeviceToHost);
}
