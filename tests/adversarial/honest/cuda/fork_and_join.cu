// style: a second stream forked from and joined to the default one by events, nobody waits on the host
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
  static cudaStream_t other = nullptr;
  static cudaEvent_t forked, joined;
  if (!other) {
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
  }
  const int blocks = (n + 255) / 256;
  cudaEventRecord(forked, nullptr);
  cudaStreamWaitEvent(other, forked, 0);
  cudaMemsetAsync(positive, 0, sizeof(int), other);
  count<<<blocks, 256, 0, other>>>(x, positive, n);
  cudaEventRecord(joined, other);
  blur<<<blocks, 256>>>(x, y, n);
  cudaStreamWaitEvent(nullptr, joined, 0);
}
