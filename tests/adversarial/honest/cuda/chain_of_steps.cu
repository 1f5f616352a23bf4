// style: each element's chain of steps in one thread, few threads: bound by latency
// problem: relax-device
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int n, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float given = x[i];
  float value = 0.0f;
#pragma unroll 8
  for (int step = 0; step < steps; ++step) value = fmaf(-0.1f, fmaf(value * value, value, -given), value);
  y[i] = value;
}

extern "C" void relax(const float *x, float *y, int n, int steps) {
  kernel<<<(n + 31) / 32, 32>>>(x, y, n, steps);
}
