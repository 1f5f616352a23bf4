#include <cuda_runtime.h>

// One thread an element, operands straight from global memory.
__global__ void multiply(const float* A, const float* B, float* C, int m, int n, int k) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n) {
        return;
    }
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) {
        sum += A[i * k + p] * B[p * n + j];
    }
    C[i * n + j] = sum;
}

constexpr int W = 32, H = 8;

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
