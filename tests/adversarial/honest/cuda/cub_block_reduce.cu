// style: cub::BlockReduce inside a kernel of its own (heavy headers)
// problem: total-device
#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

__global__ void reduce(const float *x, float *sum, int n) {
  using Reduce = cub::BlockReduce<float, 256>;
  __shared__ typename Reduce::TempStorage storage;
  float value = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) value += x[i];
  value = Reduce(storage).Sum(value);
  if (threadIdx.x == 0) atomicAdd(sum, value);
}

extern "C" void total(const float *x, float *sum, int n) {
  cudaMemsetAsync(sum, 0, sizeof(float));
  reduce<<<64, 256>>>(x, sum, n);
}
