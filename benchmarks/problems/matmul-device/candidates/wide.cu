#include <cuda_runtime.h>

// One thread an element, tiles of 32 x 32 in shared memory.
constexpr int W = 32, H = 32;

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
    multiply<<<dim3((n + W - 1) / W, (m + H - 1) / H), dim3(W, H)>>>(A, B, C, m, n, k);
}
