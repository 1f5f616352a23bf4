// style: atomics in static shared memory, vectorised int4 loads, occupancy asked of the runtime
// problem: histogram-device
#include <cuda_runtime.h>
#include <stdint.h>

__global__ void count(const int *x, int *counts, int n) {
  __shared__ int own[256];
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  const int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  const int fours = reinterpret_cast<uintptr_t>(x) % 16 == 0 ? n / 4 : 0;
  for (int i = first; i < fours; i += stride) {
    const int4 four = reinterpret_cast<const int4 *>(x)[i];
    for (int value : {four.x, four.y, four.z, four.w}) atomicAdd(&own[value], 1);
  }
  for (int i = 4 * fours + first; i < n; i += stride) atomicAdd(&own[x[i]], 1);
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
    if (own[bin]) atomicAdd(&counts[bin], own[bin]);
}

extern "C" void histogram(const int *x, int *counts, int n) {
  int blocks = 0, threads = 0;
  cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, count, 0, 0);
  cudaMemsetAsync(counts, 0, 256 * sizeof(int));
  count<<<blocks, threads>>>(x, counts, n);
}
