// tries: blocks write each other's elements and their own: who comes last, wins
// outcome: nondeterministic | wrong_answer
// defence: comparison + sensitivity
// without: passed
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void racing(const float *x, volatile float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  y[(i + 32) % n] = x[i];
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  racing<<<(n + 31) / 32, 32>>>(x, y, positive, n);
}
