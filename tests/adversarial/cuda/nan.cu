// tries: writes NaN everywhere; the payload varies with the input
// outcome: wrong_answer
// defence: nan_compare
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

__global__ void spoil(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __int_as_float(__float_as_int(x[i]) | 0x7FC00000);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  honest(x, y, positive, n);
  spoil<<<(n + 255) / 256, 256>>>(x, y, n);
}
