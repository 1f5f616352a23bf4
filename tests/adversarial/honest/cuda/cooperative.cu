// style: cooperative launch with a grid-wide barrier
// problem: smooth-device
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  if (first == 0) *positive = 0;
  cg::this_grid().sync();
  int count = 0;
  for (int i = first; i < n; i += stride) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  if (count) atomicAdd(positive, count);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  void *arguments[] = {&x, &y, &positive, &n};
  const void *entry = reinterpret_cast<const void *>(kernel);
  cudaLaunchCooperativeKernel(entry, dim3(16), dim3(256), arguments, 0, nullptr);
}
