// style: blocks get their scratch memory by malloc in the kernel, and free it
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  __shared__ int *counts;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) counts = static_cast<int *>(malloc(blockDim.x * sizeof(int)));
  __syncthreads();
  if (!counts) __trap();
  counts[threadIdx.x] = i < n && x[i] > 0.0f;
  if (i < n) y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  __syncthreads();
  for (int width = blockDim.x / 2; width > 0; width /= 2, __syncthreads())
    if (threadIdx.x < width) counts[threadIdx.x] += counts[threadIdx.x + width];
  if (threadIdx.x != 0) return;
  atomicAdd(positive, counts[0]);
  free(counts);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(x, y, positive, n);
}
