// style: host threads, each with a stream and a part, joined before it returns
// problem: smooth-device
#include <cuda_runtime.h>
#include <thread>
#include <vector>

__global__ void part(const float *x, float *y, int *positive, int first, int last, int n) {
  const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= last) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemset(positive, 0, sizeof(int));
  cudaStreamSynchronize(nullptr);
  const auto work = [=](int first, int last) {
    if (first == last) return;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    part<<<(last - first + 255) / 256, 256, 0, stream>>>(x, y, positive, first, last, n);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  };
  std::vector<std::thread> threads;
  for (int share = 0; share < 3; ++share)
    threads.emplace_back(work, int(long(n) * share / 3), int(long(n) * (share + 1) / 3));
  for (auto &thread : threads) thread.join();
}
