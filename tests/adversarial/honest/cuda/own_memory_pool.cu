// style: host pointers; a memory pool of its own that keeps what is freed, stream-ordered
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static cudaStream_t stream = nullptr;
  static cudaMemPool_t pool;
  if (!stream) {
    cudaMemPoolProps how = {};
    how.allocType = cudaMemAllocationTypePinned;
    how.location.type = cudaMemLocationTypeDevice;
    cudaMemPoolCreate(&pool, &how);
    unsigned long long all = ~0ull;
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
    cudaStreamCreate(&stream);
  }
  float *dx, *dy;
  int *count;
  cudaMallocFromPoolAsync(&dx, n * sizeof(float), pool, stream);
  cudaMallocFromPoolAsync(&dy, n * sizeof(float), pool, stream);
  cudaMallocFromPoolAsync(&count, sizeof(int), pool, stream);
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
