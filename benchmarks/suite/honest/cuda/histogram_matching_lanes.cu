// problem: corpus/problems/histogram
// style: lanes with the same key find each other (__match_any_sync), one of them adds for all
#include <cuda_runtime.h>

__global__ void count(const unsigned char *keys, int *hist, int n) {
  __shared__ int bins[256];
  if (threadIdx.x < 256) bins[threadIdx.x] = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32;
  const int stride = gridDim.x * blockDim.x;
  // `base` is the same for all lanes of a warp
  for (int base = blockIdx.x * blockDim.x + threadIdx.x - lane; base < n; base += stride) {
    const int i = base + lane;
    const unsigned here = __ballot_sync(0xffffffffu, i < n);
    if (i < n) {
      const int key = keys[i];
      const unsigned same = __match_any_sync(here, key);
      if (lane == __ffs(same) - 1) atomicAdd(&bins[key], __popc(same));
    }
    __syncwarp();
  }
  __syncthreads();
  if (threadIdx.x < 256 && bins[threadIdx.x]) atomicAdd(&hist[threadIdx.x], bins[threadIdx.x]);
}

extern "C" void histogram(const unsigned char *keys, int *hist, int n) {
  unsigned char *device;
  int *bins;
  cudaMalloc(&bins, 256 * sizeof(int));
  cudaMalloc(&device, n);
  cudaMemcpy(device, keys, n, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, 256 * sizeof(int));
  int blocks = (n + 511) / 512;
  if (blocks > 528) blocks = 528;
  count<<<blocks, 512>>>(device, bins, n);
  cudaMemcpy(hist, bins, 256 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device);
  cudaFree(bins);
}
