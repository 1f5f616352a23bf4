// style: errors of the runtime become exceptions, thrown and caught inside
// problem: smooth-device
#include <cuda_runtime.h>
#include <stdexcept>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

static void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

static void run(const float *x, float *y, int *positive, int n, int threads) {
  check(cudaMemsetAsync(positive, 0, sizeof(int)));
  kernel<<<(n + threads - 1) / threads, threads>>>(x, y, positive, n);
  check(cudaGetLastError());
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  try {
    run(x, y, positive, n, 2048);
  } catch (const std::runtime_error &) {  // so many threads do not fit a block
    run(x, y, positive, n, 512);
  }
}
