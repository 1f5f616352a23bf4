// problem: tests/adversarial/problem/total-device
// bug: sums in 64-bit fixed point with 48 fraction bits: totals beyond 32768 wrap around
// class: value
#include <cuda_runtime.h>

// Fixed point makes the sum the same in any order of adding.
#define SCALE 281474976710656.0  // 2^48

__device__ unsigned long long accumulator;

__global__ void clear() { accumulator = 0; }

__global__ void accumulate(const float *x, int n) {
  long long sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += __double2ll_rn(x[i] * SCALE);
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(&accumulator, (unsigned long long)sum);
}

__global__ void finish(float *sum) { *sum = (float)((long long)accumulator / SCALE); }

extern "C" void total(const float *x, float *sum, int n) {
  int blocks = (n + 255) / 256;
  if (blocks > 528) blocks = 528;
  clear<<<1, 1>>>();
  accumulate<<<blocks, 256>>>(x, n);
  finish<<<1, 1>>>(sum);
}
