// problem: tests/adversarial/problem/total-device
// style: the last block adds up: __threadfence, atomicInc that wraps, volatile reads, any number of blocks
#include <cuda_runtime.h>

constexpr int THREADS = 256, MOST = 512;
__device__ double part[MOST];
__device__ unsigned done;

__device__ double block_sum(double value, double *shared) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int width = THREADS / 2; width >= 32; width /= 2) {
    if (threadIdx.x < width) shared[threadIdx.x] += shared[threadIdx.x + width];
    __syncthreads();
  }
  double sum = 0.0;
  if (threadIdx.x < 32) {
    sum = shared[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  }
  return sum;  // thread 0 has it
}

__global__ void add(const float *x, float *result, int n) {
  __shared__ double shared[THREADS];
  __shared__ bool last;
  double sum = 0.0;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) sum += x[i];
  sum = block_sum(sum, shared);
  if (threadIdx.x == 0) {
    *const_cast<volatile double *>(part + blockIdx.x) = sum;
    __threadfence();
    last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  sum = 0.0;
  for (int b = threadIdx.x; b < gridDim.x; b += THREADS)
    sum += *const_cast<volatile double *>(part + b);
  sum = block_sum(sum, shared);
  if (threadIdx.x == 0) *result = static_cast<float>(sum);
}

extern "C" void total(const float *x, float *sum, int n) {
  const int wanted = (n + 4 * THREADS - 1) / (4 * THREADS);
  add<<<wanted < MOST ? wanted : MOST, THREADS>>>(x, sum, n);
}
