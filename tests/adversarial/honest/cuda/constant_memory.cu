// style: weights in constant memory, uploaded in each call; a __device__ counter read by its symbol
// problem: smooth-device
#include <cuda_runtime.h>

__constant__ float weights[3];
__device__ int total;

__global__ void kernel(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int tap = -1; tap <= 1 && i > 0 && i < n - 1; ++tap) sum += weights[tap + 1] * x[i + tap];
  y[i] = sum;
  if (x[i] > 0.0f) atomicAdd(&total, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  const float host[3] = {0.25f, 0.5f, 0.25f};
  const int zero = 0;
  cudaMemcpyToSymbol(weights, host, sizeof host);
  cudaMemcpyToSymbol(total, &zero, sizeof zero);
  kernel<<<(n + 255) / 256, 256>>>(x, y, n);
  void *counted;
  cudaGetSymbolAddress(&counted, total);
  cudaMemcpyAsync(positive, counted, sizeof(int), cudaMemcpyDeviceToDevice);
}
