// style: lanes with equal values found by __match_any_sync, one atomic for all of them
// problem: histogram-device
#include <cuda_runtime.h>

__global__ void count(const int *x, int *counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned active = __ballot_sync(0xFFFFFFFFu, i < n);
  if (i >= n) return;
  const unsigned same = __match_any_sync(active, x[i]);
  if (__ffs(same) - 1 == threadIdx.x % 32) atomicAdd(&counts[x[i]], __popc(same));
}

extern "C" void histogram(const int *x, int *counts, int n) {
  cudaMemsetAsync(counts, 0, 256 * sizeof(int));
  count<<<(n + 127) / 128, 128>>>(x, counts, n);
}
