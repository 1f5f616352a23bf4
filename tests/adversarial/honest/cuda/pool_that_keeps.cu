// style: host pointers; the device's own pool keeps its memory (release threshold), allocations in order of a stream
#include <cuda_runtime.h>
#include <stdint.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static cudaStream_t stream = nullptr;
  if (!stream) {
    cudaMemPool_t pool;
    uint64_t all = UINT64_MAX;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  }
  float *dx, *dy;
  int *count;
  cudaMallocAsync(&dx, n * sizeof(float), stream);
  cudaMallocAsync(&dy, n * sizeof(float), stream);
  cudaMallocAsync(&count, sizeof(int), stream);
  cudaMemcpyAsync(dx, x, n * sizeof(float), cudaMemcpyHostToDevice, stream);
  cudaMemsetAsync(count, 0, sizeof(int), stream);
  kernel<<<(n + 255) / 256, 256, 0, stream>>>(dx, dy, count, n);
  cudaMemcpyAsync(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaMemcpyAsync(positive, count, sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaFreeAsync(dx, stream);
  cudaFreeAsync(dy, stream);
  cudaFreeAsync(count, stream);
  cudaStreamSynchronize(stream);
}
