// style: streams of high and low priority, made and destroyed in each call
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void blur(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
}

__global__ void count(const float *x, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  int low = 0, high = 0;
  cudaStream_t first, second;
  cudaDeviceGetStreamPriorityRange(&low, &high);
  cudaStreamCreateWithPriority(&first, cudaStreamNonBlocking, high);
  cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, low);
  cudaMemsetAsync(positive, 0, sizeof(int), first);
  count<<<(n + 255) / 256, 256, 0, first>>>(x, positive, n);
  blur<<<(n + 255) / 256, 256, 0, second>>>(x, y, n);
  for (cudaStream_t stream : {first, second}) {
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  }
}
