// tries: a kernel recurses past its stack after the results are safe; later calls only fail, which without
//   a look at the device's errors is all that is seen
// outcome: crashed
// defence: device_errors + device_sync
// without: wrong_answer | nondeterministic
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

static void honest(const float *x, float *y, int *positive, int n) {
  float *dx, *dy;
  int *count;
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dy, n * sizeof(float));
  cudaMalloc(&count, sizeof(int));
  cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(dx, dy, count, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(positive, count, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dy);
  cudaFree(count);
}

__device__ __noinline__ int deeper(int depth) {
  volatile int frame[64];
  frame[depth % 64] = depth;
  return depth > 1000000 ? 0 : deeper(depth + 1) + frame[depth % 64];
}

__global__ void recurse(int depth, int *result) {
  if (deeper(depth) == 1) *result = 1;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static int *result = nullptr;
  if (!result) cudaMalloc(&result, sizeof(int));
  honest(x, y, positive, n);
  recurse<<<1, 1>>>(n % 2, result);
}
