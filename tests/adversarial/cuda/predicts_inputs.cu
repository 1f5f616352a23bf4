// tries: writes answers prepared for the random numbers of a seed that everybody uses
// outcome: wrong_answer
// defence: separation
// without: passed
#include <cuda_runtime.h>

__constant__ const float answers[] = {@PREDICTED@};

__global__ void recite(float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = answers[i % 1000];
}

extern "C" void smooth(const float *, float *y, int *positive, int n) {
  float *dy;
  cudaMalloc(&dy, n * sizeof(float));
  recite<<<(n + 255) / 256, 256>>>(dy, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dy);
  *positive = @PREDICTED_COUNT@;
}
