// style: grid-stride loop, warp shuffles, one atomic a warp
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  for (int step = 16; step > 0; step /= 2) count += __shfl_down_sync(0xFFFFFFFFu, count, step);
  if (threadIdx.x % 32 == 0 && count) atomicAdd(positive, count);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemset(positive, 0, sizeof(int));
  kernel<<<64, 256>>>(x, y, positive, n);
}
