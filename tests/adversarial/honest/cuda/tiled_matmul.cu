// style: tiles of both operands in shared memory
// problem: matmul-device
#include <cuda_runtime.h>

enum { TILE = 16 };

__global__ void kernel(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float left[TILE][TILE], right[TILE][TILE + 1];
  const int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < k; first += TILE) {
    const int l = first + threadIdx.x, row = first + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = i < m && l < k ? a[i * k + l] : 0.0f;
    right[threadIdx.y][threadIdx.x] = row < k && j < n ? b[row * n + j] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int step = 0; step < TILE; ++step)
      sum += left[threadIdx.y][step] * right[step][threadIdx.x];
    __syncthreads();
  }
  if (i < m && j < n) c[i * n + j] = sum;
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  kernel<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(a, b, c, m, n, k);
}
