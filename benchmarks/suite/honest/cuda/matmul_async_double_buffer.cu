// problem: tests/adversarial/problem/matmul-device
// style: tiles arrive by cp.async in one half of shared memory while the other is multiplied
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int T = 16;

struct Stage {
  float a[T][T], b[T][T];
};

__device__ void fetch(Stage &stage, const float *a, const float *b, int m, int n, int k, int tile) {
  const int ty = threadIdx.y, tx = threadIdx.x;
  const int row = blockIdx.y * T + ty, column = blockIdx.x * T + tx;
  if (row < m && tile * T + tx < k)
    __pipeline_memcpy_async(&stage.a[ty][tx], a + row * k + tile * T + tx, sizeof(float));
  else
    stage.a[ty][tx] = 0.0f;
  if (tile * T + ty < k && column < n)
    __pipeline_memcpy_async(&stage.b[ty][tx], b + (tile * T + ty) * n + column, sizeof(float));
  else
    stage.b[ty][tx] = 0.0f;
}

__global__ void multiply(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ Stage stages[2];
  const int tiles = (k + T - 1) / T;
  const int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  float sum = 0.0f;
  fetch(stages[0], a, b, m, n, k, 0);
  __pipeline_commit();
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) fetch(stages[(tile + 1) % 2], a, b, m, n, k, tile + 1);
    __pipeline_commit();  // an empty group behind the last tile
    __pipeline_wait_prior(1);
    __syncthreads();
    const Stage &ready = stages[tile % 2];
    for (int l = 0; l < T; ++l) sum = fmaf(ready.a[threadIdx.y][l], ready.b[l][threadIdx.x], sum);
    __syncthreads();  // before the next round fetches into this half
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  multiply<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(a, b, c, m, n, k);
}
