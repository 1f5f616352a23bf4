// problem: tests/adversarial/problem/histogram-device
// bug: __syncthreads in a loop that the last threads leave one round earlier: the last tile is counted by few
// class: team
#include <cuda_runtime.h>

#define BINS 256

// No atomics in the inner loop: thread b counts how often b occurs in a tile of 256 keys.
__global__ void histogram_kernel(const int *x, int *counts, int n) {
  __shared__ int tile[BINS];
  int bin = threadIdx.x;
  int count = 0;
  tile[bin] = -1;
  for (int i = blockIdx.x * BINS + threadIdx.x; i < n; i += gridDim.x * BINS) {
    tile[threadIdx.x] = x[i];
    __syncthreads();
    for (int j = 0; j < BINS; ++j) count += tile[j] == bin;
    __syncthreads();
    tile[threadIdx.x] = -1;
  }
  if (count > 0) atomicAdd(&counts[bin], count);
}

extern "C" void histogram(const int *x, int *counts, int n) {
  int blocks = (n + BINS - 1) / BINS;
  if (blocks > 132) blocks = 132;
  cudaMemsetAsync(counts, 0, BINS * sizeof(int));
  histogram_kernel<<<blocks, BINS>>>(x, counts, n);
}
