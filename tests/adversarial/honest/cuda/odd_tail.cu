// style: eight elements a thread in registers, loop over the remainder in one last block
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void eights(const float *__restrict__ x, float *__restrict__ y, int *positive, int n) {
  const int first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (first + 8 > n) return;
  float at[10];
  int count = 0;
#pragma unroll
  for (int j = 0; j < 10; ++j) {
    const int i = first + j - 1;
    at[j] = i >= 0 && i < n ? x[i] : 0.0f;
  }
#pragma unroll
  for (int j = 1; j < 9; ++j) {
    const int i = first + j - 1;
    y[i] = i > 0 && i < n - 1 ? 0.25f * at[j - 1] + 0.5f * at[j] + 0.25f * at[j + 1] : 0.0f;
    count += at[j] > 0.0f;
  }
  atomicAdd(positive, count);
}

__global__ void tail(const float *x, float *y, int *positive, int first, int n) {
  for (int i = first + threadIdx.x; i < n; i += blockDim.x) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    if (x[i] > 0.0f) atomicAdd(positive, 1);
  }
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  if (n >= 8) eights<<<(n / 8 + 127) / 128, 128>>>(x, y, positive, n);
  if (n % 8) tail<<<1, 32>>>(x, y, positive, n - n % 8, n);
}
