// style: tiles copied to shared memory asynchronously, two of them in flight
// problem: smooth-device
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

enum { TILE = 256 };

__device__ static void fetch(float *tile, const float *x, int first, int n) {
  for (int at = threadIdx.x; at < TILE + 2; at += blockDim.x) {
    const int i = first + at - 1;
    if (i >= 0 && i < n)
      __pipeline_memcpy_async(tile + at, x + i, sizeof(float));
    else
      tile[at] = 0.0f;
  }
  __pipeline_commit();
}

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  __shared__ float tiles[2][TILE + 2];
  const int stride = gridDim.x * TILE;
  int first = blockIdx.x * TILE, turn = 0, count = 0;
  fetch(tiles[0], x, first, n);
  for (; first < n; first += stride, turn ^= 1) {
    fetch(tiles[turn ^ 1], x, first + stride, n);
    __pipeline_wait_prior(1);
    __syncthreads();
    const float *at = tiles[turn] + threadIdx.x + 1;
    const int i = first + threadIdx.x;
    if (i < n) y[i] = i > 0 && i < n - 1 ? 0.25f * at[-1] + 0.5f * at[0] + 0.25f * at[1] : 0.0f;
    count += i < n && at[0] > 0.0f;
    __syncthreads();
  }
  __pipeline_wait_prior(0);
  if (count) atomicAdd(positive, count);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<64, TILE>>>(x, y, positive, n);
}
