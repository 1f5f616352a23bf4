// problem: tests/adversarial/problem/histogram-device
// bug: the last block adds up the other blocks' counts, which no __threadfence published before the counter
// class: race
#include <cuda_runtime.h>

#define BINS 256
#define MAX_BLOCKS 264

__device__ int partial[MAX_BLOCKS][BINS];
__device__ unsigned int finished = 0;

__global__ void histogram_kernel(const int *x, int *counts, int n) {
  __shared__ int bins[BINS];
  __shared__ bool is_last;

  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[x[i]], 1);
  __syncthreads();

  partial[blockIdx.x][threadIdx.x] = bins[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    // wraps to 0 after the last block, ready for the next call
    unsigned int ticket = atomicInc(&finished, gridDim.x - 1);
    is_last = ticket == gridDim.x - 1;
  }
  __syncthreads();

  if (is_last) {
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += partial[b][threadIdx.x];
    counts[threadIdx.x] = sum;
  }
}

extern "C" void histogram(const int *x, int *counts, int n) {
  int blocks = (n + BINS - 1) / BINS;
  if (blocks > MAX_BLOCKS) blocks = MAX_BLOCKS;
  histogram_kernel<<<blocks, BINS>>>(x, counts, n);
}
