// tries: patches clock_gettime, and time runs at a thousandth of its speed: the claimed time does not
//   suffice for moving the bytes. Two layers: the judge's clock, and the floor
// outcome: suspicious | passed | crashed
// defence: judge_clock + sealed + floor
// without: passed
// harm: fast
// alone: floor suspicious
// problem: stream
#include <cuda_runtime.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__global__ void kernel(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}

#include "relocations.h"
#include "slow_clock.h"

extern "C" void stream(const float *x, float *y, int n) {
  static const int patched = dl_iterate_phdr(patch, nullptr);
  static float *dx = nullptr, *dy = nullptr;
  (void)patched;
  if (!dx) cudaMalloc(&dx, 200000 * sizeof(float));
  if (!dy) cudaMalloc(&dy, 200000 * sizeof(float));
  cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  kernel<<<(n + 255) / 256, 256>>>(dx, dy, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
}
