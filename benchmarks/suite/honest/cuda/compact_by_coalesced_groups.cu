// problem: tests/adversarial/problem/compact
// style: the lanes that keep something form a coalesced group, whose leader takes places for all
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void keep(const float *x, float *root, int *place, int *count, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float value = x[i];
    if (value > 0.5f) {
      const cg::coalesced_group group = cg::coalesced_threads();
      int first = 0;
      if (group.thread_rank() == 0) first = atomicAdd(count, static_cast<int>(group.size()));
      const int at = group.shfl(first, 0) + static_cast<int>(group.thread_rank());
      root[at] = sqrtf(value);
      place[at] = i;
    }
  }
}

extern "C" int compact(const float *x, float *root, int *place, int n) {
  float *d_x, *d_root;
  int *d_place, *d_count, count = 0;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_root, n * sizeof(float));
  cudaMalloc(&d_place, n * sizeof(int));
  cudaMalloc(&d_count, sizeof(int));
  cudaMemset(d_count, 0, sizeof(int));
  cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice);
  keep<<<64, 192>>>(d_x, d_root, d_place, d_count, n);
  cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(root, d_root, count * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(place, d_place, count * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  cudaFree(d_root);
  cudaFree(d_place);
  cudaFree(d_count);
  return count;
}
