// style: inline PTX: fused multiply-add, cached loads, a reduction without return value
// problem: smooth-device
#include <cuda_runtime.h>

__device__ static float fused(float a, float b, float c) {
  float d;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
}

__device__ static float loaded(const float *address) {
  float value;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(address));
  return value;
}

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float middle = loaded(x + i);
  float sum = 0.0f;
  if (i > 0 && i < n - 1)
    sum = fused(0.25f, loaded(x + i - 1), fused(0.5f, middle, 0.25f * loaded(x + i + 1)));
  y[i] = sum;
  if (middle > 0.0f) asm volatile("red.global.add.s32 [%0], 1;" ::"l"(positive) : "memory");
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(x, y, positive, n);
}
