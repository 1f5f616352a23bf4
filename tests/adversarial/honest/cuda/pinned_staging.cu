// style: host pointers; staging in page-locked memory, copies in one stream
#include <cuda_runtime.h>
#include <string.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static cudaStream_t stream = nullptr;
  static float *staged = nullptr, *dx, *dy;
  static int *counted, *count, room = 0;
  if (!stream) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (room < n) {
    if (staged) cudaFreeHost(staged), cudaFreeHost(counted), cudaFree(dx), cudaFree(dy), cudaFree(count);
    cudaMallocHost(&staged, n * sizeof(float));
    cudaMallocHost(&counted, sizeof(int));
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMalloc(&count, sizeof(int));
    room = n;
  }
  memcpy(staged, x, n * sizeof(float));
  cudaMemcpyAsync(dx, staged, n * sizeof(float), cudaMemcpyHostToDevice, stream);
  cudaMemsetAsync(count, 0, sizeof(int), stream);
  kernel<<<(n + 255) / 256, 256, 0, stream>>>(dx, dy, count, n);
  cudaMemcpyAsync(staged, dy, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaMemcpyAsync(counted, count, sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  memcpy(y, staged, n * sizeof(float));
  *positive = *counted;
}
