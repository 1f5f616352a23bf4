// problem: tests/adversarial/problem/total
// style: managed memory; doubles added by a loop of atomicCAS into a __managed__ sum
#include <cuda_runtime.h>
#include <string.h>

__managed__ unsigned long long bits_of_sum;

__device__ void add_to(unsigned long long *bits, double value) {
  unsigned long long seen = atomicOr(bits, 0ull), expected;
  do {
    expected = seen;
    seen = atomicCAS(bits, expected, __double_as_longlong(__longlong_as_double(expected) + value));
  } while (seen != expected);
}

__global__ void add(const float *x, int n) {
  __shared__ unsigned long long of_block;
  if (threadIdx.x == 0) of_block = 0;  // the bits of 0.0
  __syncthreads();
  double sum = 0.0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += x[i];
  add_to(&of_block, sum);
  __syncthreads();
  if (threadIdx.x == 0) add_to(&bits_of_sum, __longlong_as_double(of_block));
}

extern "C" void total(const float *x, float *sum, int n) {
  float *shared;
  cudaMallocManaged(&shared, n * sizeof(float));
  memcpy(shared, x, n * sizeof(float));
  bits_of_sum = 0;
  add<<<40, 64>>>(shared, n);
  cudaDeviceSynchronize();
  double value;
  memcpy(&value, &bits_of_sum, sizeof value);
  *sum = static_cast<float>(value);
  cudaFree(shared);
}
