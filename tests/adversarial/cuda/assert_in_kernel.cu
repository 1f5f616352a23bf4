// tries: an assert fails in a kernel once the results are there
// outcome: crashed
// defence: device_errors + device_sync
// without: wrong_answer | nondeterministic | passed
#include <assert.h>
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

__global__ void claim(int n) { assert(n < 0); }

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static float *dx = nullptr, *dy = nullptr;
  static int *count = nullptr;
  if (!dx) {
    cudaMalloc(&dx, 200000 * sizeof(float));
    cudaMalloc(&dy, 200000 * sizeof(float));
    cudaMalloc(&count, sizeof(int));
  }
  cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(dx, dy, count, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(positive, count, sizeof(int), cudaMemcpyDeviceToHost);
  claim<<<1, 1>>>(n);
}
