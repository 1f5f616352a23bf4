// style: many kernels, a sum of each block in pinned mapped memory, which the host adds up at the end
#include <cuda_runtime.h>

__global__ void smoothed(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
}

__global__ void counted(const float *x, int *counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int count = __syncthreads_count(i < n && x[i] > 0.0f);
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static float *dx = nullptr, *dy = nullptr;
  static int *counts = nullptr, *seen = nullptr, room = 0;
  const int blocks = (n + 255) / 256;
  if (room < n) {
    cudaFree(dx);
    cudaFree(dy);
    cudaFreeHost(counts);
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaHostAlloc(&counts, blocks * sizeof(int), cudaHostAllocMapped);
    cudaHostGetDevicePointer(&seen, counts, 0);
    room = n;
  }
  cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  counted<<<blocks, 256>>>(dx, seen, n);
  smoothed<<<blocks, 256>>>(dx, dy, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  *positive = 0;
  for (int block = 0; block < blocks; ++block) *positive += counts[block];
}
