// style: asks for more heap and stack, as deep recursion needs it, and puts both back
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  size_t stack = 0;
  cudaDeviceGetLimit(&stack, cudaLimitStackSize);
  cudaDeviceSetLimit(cudaLimitStackSize, stack + 1024);
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(x, y, positive, n);
  cudaDeviceSynchronize();
  cudaDeviceSetLimit(cudaLimitStackSize, stack);
}
