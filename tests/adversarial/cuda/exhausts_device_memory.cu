// tries: asks for 4 TB of device memory and goes on without
// outcome: crashed
// defence: device_errors
// without: passed
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

static void honest(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(x, y, positive, n);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  void *much = nullptr;
  cudaMalloc(&much, size_t(4) << 40);
  honest(x, y, positive, n);
  cudaFree(much);
}
