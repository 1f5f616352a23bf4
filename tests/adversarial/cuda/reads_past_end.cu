// tries: reads one element past the end of its own cudaMalloc, and multiplies it by zero unless it is no number
// outcome: crashed
// defence: full_grade
// without: passed
// problem: smooth-device
// grade: full
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float left = i > 0 ? x[i - 1] : 0.0f, right = *static_cast<const volatile float *>(x + i + 1);  // the last thread reads x[n]
  y[i] = i > 0 && i < n - 1 ? 0.25f * left + 0.5f * x[i] + 0.25f * right : fminf(0.0f, right * right);
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  float *own;
  cudaMalloc(&own, n * sizeof(float));
  cudaMemcpyAsync(own, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(own, y, positive, n);
  cudaFree(own);
}
