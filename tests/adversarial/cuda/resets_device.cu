// tries: resets the device in each call: the harness's own memory there is gone, and with it what it would see
// outcome: crashed
// defence: separation
// without: passed
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

// By copies of its own: where the arrays are on the host, nothing of it is seen.
static void honest(const float *x, float *y, int *positive, int n) {
  float *in, *out;
  int *count;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMalloc(&count, sizeof(int));
  cudaMemcpy(in, x, n * sizeof(float), cudaMemcpyDefault);
  cudaMemset(count, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(in, out, count, n);
  cudaMemcpy(y, out, n * sizeof(float), cudaMemcpyDefault);
  cudaMemcpy(positive, count, sizeof(int), cudaMemcpyDefault);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  honest(x, y, positive, n);
  cudaDeviceSynchronize();
  cudaDeviceReset();
}
