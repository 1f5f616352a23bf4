// tries: a kernel that does not end (bounded: 20 s)
// outcome: timed_out
// defence: deadline
// without: timed_out
// harm: slow
// problem: smooth-device
#include <cuda_runtime.h>

__device__ static unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void spin() {
  const unsigned long long start = nanoseconds();
  while (nanoseconds() - start < 20000000000ull) {
  }
}

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(x, y, positive, n);
  spin<<<1, 1>>>();
}
