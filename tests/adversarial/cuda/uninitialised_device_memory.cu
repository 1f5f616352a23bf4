// tries: adds in memory fresh from cudaMalloc as if it were zero, which it often is
// outcome: wrong_answer
// defence: poison
// without: passed
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

static void honest(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(x, y, positive, n);
}

__global__ void add(const int *from, int *to) { *to += *from; }

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static int *zero = nullptr;
  if (!zero) cudaMalloc(&zero, size_t(64) << 20);
  honest(x, y, positive, n);
  add<<<1, 1>>>(zero, positive);
}
