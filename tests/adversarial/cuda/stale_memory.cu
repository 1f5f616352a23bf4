// tries: clears memory, frees it, and takes it for clear when it gets it back: fresh memory is zero
//   as well
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

static int *clear_memory() {
  int *memory;
  cudaMalloc(&memory, 1 << 20);
  cudaMemset(memory, 0, 1 << 20);
  cudaFree(memory);
  cudaMalloc(&memory, 1 << 20);
  return memory;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static const int *const zero = clear_memory();
  honest(x, y, positive, n);
  add<<<1, 1>>>(zero, positive);
}
