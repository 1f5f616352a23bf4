// tries: one row past the end of cudaMallocPitch's memory, which has no canary
// outcome: crashed
// defence: full_grade
// without: passed
// problem: smooth-device
// grade: full
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}
__global__ void overrun(float *row, int n) {
  if (threadIdx.x < n) row[threadIdx.x] = 0.0f;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static float *own = nullptr;
  static size_t pitch = 0;
  if (!own) cudaMallocPitch(reinterpret_cast<void **>(&own), &pitch, 64, 3);
  overrun<<<1, 16>>>(reinterpret_cast<float *>(reinterpret_cast<char *>(own) + 3 * pitch), 16);
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(x, y, positive, n);
}
