// style: host pointers; the caller's input registered for the copy where the system lets it
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  float *dx, *dy;
  int *count;
  void *given = const_cast<float *>(x);
  const bool locked =
      cudaHostRegister(given, n * sizeof(float), cudaHostRegisterReadOnly) == cudaSuccess ||
      cudaHostRegister(given, n * sizeof(float), cudaHostRegisterDefault) == cudaSuccess;
  cudaGetLastError();
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dy, n * sizeof(float));
  cudaMalloc(&count, sizeof(int));
  cudaMemcpyAsync(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemsetAsync(count, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(dx, dy, count, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(positive, count, sizeof(int), cudaMemcpyDeviceToHost);
  if (locked) cudaHostUnregister(given);
  cudaFree(dx);
  cudaFree(dy);
  cudaFree(count);
}
