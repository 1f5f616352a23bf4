#include <cuda_runtime.h>

// One thread an element, operands by way of tiles in shared memory.
constexpr int W = 16, H = 16;

__global__ void multiply(const float* A, const float* B, float* C, int m, int n, int k) {
    __shared__ float a[H][W], b[H][W];
    const int i = blockIdx.y * H + threadIdx.y, j = blockIdx.x * W + threadIdx.x;
    float sum = 0.0f;
    for (int base = 0; base < k; base += W) {
        const int p = base + threadIdx.x, q = base + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = i < m && p < k ? A[i * k + p] : 0.0f;
        b[threadIdx.y][threadIdx.x] = q < k && j < n ? B[q * n + j] : 0.0f;
        __syncthreads();
        for (int t = 0; t < W; ++t) {
            sum += a[threadIdx.y][t] * b[t][threadIdx.x];
        }
        __syncthreads();
    }
    if (i < m && j < n) {
        C[i * n + j] = sum;
    }
}

extern "C" void matmul(const float* A, const float* B, float* C, int m, int n, int k) {
    float *a, *b, *c;
    cudaMalloc(&a, sizeof(float) * m * k);
    cudaMalloc(&b, sizeof(float) * k * n);
    cudaMalloc(&c, sizeof(float) * m * n);
    cudaMemcpy(a, A, sizeof(float) * m * k, cudaMemcpyHostToDevice);
    cudaMemcpy(b, B, sizeof(float) * k * n, cudaMemcpyHostToDevice);
    multiply<<<dim3((n + W - 1) / W, (m + H - 1) / H), dim3(W, H)>>>(a, b, c, m, n, k);
    cudaMemcpy(C, c, sizeof(float) * m * n, cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
