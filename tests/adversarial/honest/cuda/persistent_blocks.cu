// style: persistent blocks that take tiles from a queue in global memory
// problem: smooth-device
#include <cuda_runtime.h>

__device__ int next_tile;

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  __shared__ int tile;
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(&next_tile, 1);
    __syncthreads();
    const int i = tile * blockDim.x + threadIdx.x;
    if (tile * static_cast<int>(blockDim.x) >= n) return;
    if (i < n)
      y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    const int above = __syncthreads_count(i < n && x[i] > 0.0f);
    if (threadIdx.x == 0 && above) atomicAdd(positive, above);
  }
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static void *queue = nullptr;
  if (!queue) cudaGetSymbolAddress(&queue, next_tile);
  cudaMemsetAsync(queue, 0, sizeof(int));
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<132, 256>>>(x, y, positive, n);
}
