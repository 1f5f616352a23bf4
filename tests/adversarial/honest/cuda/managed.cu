// style: host pointers; managed memory, __managed__ counter
#include <cuda_runtime.h>

#include <string.h>

__managed__ int total;

__global__ void kernel(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(&total, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  float *both;
  cudaMallocManaged(&both, 2 * n * sizeof(float));
  memcpy(both, x, n * sizeof(float));
  total = 0;
  kernel<<<(n + 255) / 256, 256>>>(both, both + n, n);
  cudaDeviceSynchronize();
  memcpy(y, both + n, n * sizeof(float));
  *positive = total;
  cudaFree(both);
}
