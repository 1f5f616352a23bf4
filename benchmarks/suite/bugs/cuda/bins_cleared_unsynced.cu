// problem: tests/adversarial/problem/histogram-device
// bug: no __syncthreads between clearing the shared bins and counting into them
// class: race
#include <cuda_runtime.h>

#define BINS 256
#define LANES 32

// One column of bins for each lane: lanes of a warp never meet in one counter.
__global__ void histogram_kernel(const int *__restrict__ x, int *counts, int n) {
  __shared__ int bins[BINS * LANES];
  const int lane = threadIdx.x % LANES;
  const int stride = blockDim.x * gridDim.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int key = i < n ? x[i] : 0;  // on its way while the bins are cleared
  for (int b = threadIdx.x; b < BINS * LANES; b += blockDim.x) bins[b] = 0;

  while (i < n) {
    atomicAdd(&bins[key * LANES + lane], 1);
    i += stride;
    if (i < n) key = x[i];
  }
  __syncthreads();

  int sum = 0;
  for (int j = 0; j < LANES; ++j) sum += bins[threadIdx.x * LANES + (j + lane) % LANES];
  if (sum > 0) atomicAdd(&counts[threadIdx.x], sum);
}

extern "C" void histogram(const int *x, int *counts, int n) {
  cudaMemsetAsync(counts, 0, BINS * sizeof(int));
  int blocks = (n + BINS - 1) / BINS;
  if (blocks > 528) blocks = 528;
  histogram_kernel<<<blocks, BINS>>>(x, counts, n);
}
