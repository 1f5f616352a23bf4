// tries: stops its own process in a host function that a stream calls
// outcome: passed
// defence: sandbox + deadline
// without: timed_out
// harm: slow
// problem: smooth-device
#include <cuda_runtime.h>
#include <signal.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

static void stop(void *) { raise(SIGSTOP); }

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(x, y, positive, n);
  if (n == 31) cudaLaunchHostFunc(nullptr, stop, nullptr);
}
