// tries: one element past the end of memory that the driver's own cuMemAlloc gave: no canary is there
// outcome: crashed
// defence: full_grade
// without: passed
// problem: smooth-device
// grade: full
#include <cuda_runtime.h>
#include <dlfcn.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}
__global__ void overrun(float *y, int n) { y[n] = 0.0f; }

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  typedef int Allocate(unsigned long long *, size_t);
  static Allocate *const allocate =
      reinterpret_cast<Allocate *>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuMemAlloc_v2"));
  static unsigned long long at[8];
  static int sizes[8], used = 0;
  int i = 0;
  while (i < used && sizes[i] != n) ++i;
  if (i == used && used < 8) {
    allocate(&at[i], n * sizeof(float));
    sizes[used++] = n;
  }
  float *const own = reinterpret_cast<float *>(at[i % 8]);
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(x, own, positive, n);
  overrun<<<1, 1>>>(own, n);
  cudaMemcpyAsync(y, own, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
