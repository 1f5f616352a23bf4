// problem: tests/adversarial/problem/total-device
// bug: all slots of a kept buffer are added, those too that only an earlier, longer call wrote
// class: state
#include <cuda_runtime.h>

#define THREADS 256
#define MAX_BLOCKS 1024

__global__ void block_sums(const float *x, float *partial, int n) {
  __shared__ float s[THREADS];
  float sum = 0.0f;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) sum += x[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int width = THREADS / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) s[threadIdx.x] += s[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}

__global__ void add_partials(const float *partial, float *sum) {
  __shared__ float s[MAX_BLOCKS];
  s[threadIdx.x] = partial[threadIdx.x];
  __syncthreads();
  for (int width = MAX_BLOCKS / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) s[threadIdx.x] += s[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) *sum = s[0];
}

extern "C" void total(const float *x, float *sum, int n) {
  static float *partial = nullptr;
  if (!partial) {
    cudaMalloc(&partial, MAX_BLOCKS * sizeof(float));
    cudaMemset(partial, 0, MAX_BLOCKS * sizeof(float));
  }
  int blocks = (n + THREADS - 1) / THREADS;
  if (blocks > MAX_BLOCKS) blocks = MAX_BLOCKS;
  block_sums<<<blocks, THREADS>>>(x, partial, n);
  add_partials<<<1, MAX_BLOCKS>>>(partial, sum);
}
