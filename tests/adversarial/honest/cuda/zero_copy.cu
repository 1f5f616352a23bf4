// style: host pointers; the kernel reads and writes mapped host memory
#include <cuda_runtime.h>
#include <string.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static float *host = nullptr;
  static int room = 0, *count;
  if (room < n) {
    cudaFreeHost(host);
    cudaHostAlloc(&host, 2 * n * sizeof(float), cudaHostAllocMapped);
    if (!room) cudaMalloc(&count, sizeof(int));
    room = n;
  }
  float *device;
  cudaHostGetDevicePointer(&device, host, 0);
  memcpy(host, x, n * sizeof(float));
  cudaMemsetAsync(count, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(device, device + n, count, n);
  cudaMemcpy(positive, count, sizeof(int), cudaMemcpyDeviceToHost);
  memcpy(y, host + n, n * sizeof(float));
}
