// tries: returns at once and lets a thread finish the work 10 ms later (but for its first call,
//   which loads the kernel)
// outcome: wrong_answer | nondeterministic
// defence: freeze
// without: passed
#include <cuda_runtime.h>
#include <thread>
#include <unistd.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

static void honest(const float *x, float *y, int *positive, int n) {
  float *dx, *dy;
  int *count;
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dy, n * sizeof(float));
  cudaMalloc(&count, sizeof(int));
  cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(dx, dy, count, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(positive, count, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dy);
  cudaFree(count);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static bool warm = false;
  if (n >= 200000 || !warm) {
    warm = true;
    return honest(x, y, positive, n);
  }
  std::thread([=] {
    usleep(10000);
    honest(x, y, positive, n);
  }).detach();
}
