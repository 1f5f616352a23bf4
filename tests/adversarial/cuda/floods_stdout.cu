// tries: 4 MB of printf from kernels in one call
// outcome: crashed
// defence: output_cap
// without: passed
// problem: smooth-device
#include <cuda_runtime.h>
#include <stdio.h>

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

__global__ void shout() {
  printf("%s\n", "this line is here to be long, and it says nothing at all, again and again");
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static bool said = false;
  honest(x, y, positive, n);
  for (int i = 0; i < 30 && !said; ++i) {
    shout<<<8, 256>>>();
    cudaDeviceSynchronize();
  }
  said = true;
  fflush(stdout);
}
