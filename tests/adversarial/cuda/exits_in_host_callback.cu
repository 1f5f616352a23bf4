// tries: ends the process with exit code 0 in a host function that a stream calls
// outcome: crashed
// defence: separation
// without: passed
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void kernel() {}

static void leave(void *) { _exit(0); }

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  (void)x, (void)y, (void)positive, (void)n;
  kernel<<<1, 1>>>();
  cudaLaunchHostFunc(nullptr, leave, nullptr);
  cudaDeviceSynchronize();
}
