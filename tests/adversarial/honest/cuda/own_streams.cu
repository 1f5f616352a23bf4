// style: two streams of its own, joined by events
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void blur(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
}

__global__ void count(const float *x, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static cudaStream_t streams[2];
  static cudaEvent_t counted = nullptr;
  if (!counted) {
    for (auto &stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&counted, cudaEventDisableTiming);
  }
  const int blocks = (n + 255) / 256;
  cudaMemsetAsync(positive, 0, sizeof(int), streams[1]);
  count<<<blocks, 256, 0, streams[1]>>>(x, positive, n);
  cudaEventRecord(counted, streams[1]);
  blur<<<blocks, 256, 0, streams[0]>>>(x, y, n);
  cudaStreamWaitEvent(streams[0], counted, 0);
  cudaStreamSynchronize(streams[0]);
}
