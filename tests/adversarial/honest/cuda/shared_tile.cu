// style: tile with halo in shared memory, block reduction, explicit synchronisation
// problem: smooth-device
#include <cuda_runtime.h>

enum { TILE = 256 };

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  __shared__ float tile[TILE + 2];
  const int i = blockIdx.x * TILE + threadIdx.x;
  tile[threadIdx.x + 1] = i < n ? x[i] : 0.0f;
  if (threadIdx.x == 0) tile[0] = i > 0 ? x[i - 1] : 0.0f;
  if (threadIdx.x == TILE - 1) tile[TILE + 1] = i + 1 < n ? x[i + 1] : 0.0f;
  __syncthreads();
  const float *at = tile + threadIdx.x + 1;
  if (i < n) y[i] = i > 0 && i < n - 1 ? 0.25f * (at[-1] + at[1]) + 0.5f * at[0] : 0.0f;
  const int count = __syncthreads_count(i < n && at[0] > 0.0f);
  if (threadIdx.x == 0) atomicAdd(positive, count);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<(n + TILE - 1) / TILE, TILE>>>(x, y, positive, n);
  cudaDeviceSynchronize();
}
