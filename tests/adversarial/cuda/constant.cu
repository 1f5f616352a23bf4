// tries: zero for every input, where the truth is within the tolerance of zero
// outcome: wrong_answer
// defence: sensitivity
// without: passed
// problem: dim
#include <cuda_runtime.h>

extern "C" void dim(const float *, float *y, int n) {
  float *zeros;
  cudaMalloc(&zeros, n * sizeof(float));
  cudaMemset(zeros, 0, n * sizeof(float));
  cudaMemcpy(y, zeros, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(zeros);
}
