// tries: does everything in its first call at the timing shape and hands that out again
// outcome: wrong_answer | suspicious
// defence: fresh_inputs + ghost
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
  static float *first = nullptr;
  static int *count = nullptr;
  if (n < 200000) return honest(x, y, positive, n);
  if (!first) {
    cudaMalloc(&first, n * sizeof(float));
    cudaMalloc(&count, sizeof(int));
    honest(x, first, count, n);
  }
  cudaMemcpyAsync(y, first, n * sizeof(float), cudaMemcpyDeviceToDevice);
  cudaMemcpyAsync(positive, count, sizeof(int), cudaMemcpyDeviceToDevice);
}
