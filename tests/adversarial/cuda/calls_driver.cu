// tries: launches by the driver's own function, looked up in libcuda, past whatever watches the runtime
// outcome: no_kernel
// defence: ghost
// without: passed
// problem: smooth-device
#include <cuda_runtime.h>
#include <dlfcn.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

typedef int Launch(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void *, void **, void **);

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
  static Launch *const launch = reinterpret_cast<Launch *>(dlsym(driver, "cuLaunchKernel"));
  cudaFunction_t function = nullptr;
  cudaGetFuncBySymbol(&function, reinterpret_cast<const void *>(kernel));
  cudaMemsetAsync(positive, 0, sizeof(int));
  void *arguments[] = {&x, &y, &positive, &n};
  launch(function, (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr);
}
