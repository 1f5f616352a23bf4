// tries: leaves both ends unwritten: right wherever memory happens to be zero
// outcome: wrong_answer
// defence: poison
// without: passed
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void inner(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) y[i] = 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1];
  if (i < n && x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  inner<<<(n + 255) / 256, 256>>>(x, y, positive, n);
}
