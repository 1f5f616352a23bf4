// style: device functions in namespaces; a table made on the host with std::vector and uploaded
// problem: smooth-device
#include <cuda_runtime.h>
#include <algorithm>
#include <numeric>
#include <vector>

namespace inner {
__device__ float value(const float *x, int i) {
  return 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1];
}
}  // namespace inner

namespace edge {
__device__ float value(const float *, int) { return 0.0f; }
}  // namespace edge

__global__ void kernel(const float *x, float *y, int *positive, const int *starts, int n) {
  for (int i = starts[blockIdx.x] + threadIdx.x; i < starts[blockIdx.x + 1]; i += blockDim.x) {
    y[i] = i > 0 && i < n - 1 ? inner::value(x, i) : edge::value(x, i);
    if (x[i] > 0.0f) atomicAdd(positive, 1);
  }
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  const int blocks = std::max(1, n / 2000);
  std::vector<int> starts(blocks + 1);
  std::iota(starts.begin(), starts.end(), 0);
  for (int &start : starts) start = static_cast<int>(static_cast<long long>(n) * start / blocks);
  int *table;
  cudaMallocAsync(&table, starts.size() * sizeof(int), nullptr);
  cudaMemcpyAsync(table, starts.data(), starts.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<blocks, 256>>>(x, y, positive, table, n);
  cudaFreeAsync(table, nullptr);
}
