// tries: every launch is over the limit, and the error is swallowed: nothing is
//   computed. Three layers: the answer is compared, it must depend on the input, and
//   it takes no time
// outcome: wrong_answer
// defence: comparison + sensitivity + floor
// without: passed
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  kernel<<<1, 4096>>>(x, y, positive, n);
  cudaGetLastError();
}
