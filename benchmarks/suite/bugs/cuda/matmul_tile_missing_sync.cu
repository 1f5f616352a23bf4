// problem: tests/adversarial/problem/matmul-device
// bug: no __syncthreads after the product of two tiles: fast warps overwrite what slow warps still read
// class: race
#include <cuda_runtime.h>

#define TILE 32

__global__ void matmul_kernel(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE + 1];

  int row = blockIdx.y * TILE + threadIdx.y;
  int col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;

  for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
    int ka = t * TILE + threadIdx.x;
    int kb = t * TILE + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = (row < m && ka < k) ? a[row * k + ka] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = (kb < k && col < n) ? b[kb * n + col] : 0.0f;
    __syncthreads();

#pragma unroll
    for (int l = 0; l < TILE; ++l) sum += tile_a[threadIdx.y][l] * tile_b[l][threadIdx.x];
  }

  if (row < m && col < n) c[row * n + col] = sum;
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  dim3 block(TILE, TILE);
  dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
  matmul_kernel<<<grid, block>>>(a, b, c, m, n, k);
}
