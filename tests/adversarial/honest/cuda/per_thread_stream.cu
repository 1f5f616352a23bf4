// style: the default stream of each thread, by its handle
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int), cudaStreamPerThread);
  kernel<<<(n + 255) / 256, 256, 0, cudaStreamPerThread>>>(x, y, positive, n);
  cudaStreamSynchronize(cudaStreamPerThread);
}
