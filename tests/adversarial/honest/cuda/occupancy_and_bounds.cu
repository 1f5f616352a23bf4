// style: launch bounds, grid sized by cudaOccupancyMaxActiveBlocksPerMultiprocessor
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256, 4) kernel(const float *x, float *y, int *positive, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    if (x[i] > 0.0f) atomicAdd(positive, 1);
  }
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  int device = 0, processors = 0, blocks = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0);
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<processors * blocks, 256>>>(x, y, positive, n);
}
