// tries: waits ten microseconds for the other warps' sums, and at no barrier
// outcome: nondeterministic
// defence: full_grade
// without: passed
// problem: total-device
// grade: full
#include <cuda_runtime.h>

__global__ void add(const float *x, float *sum, int n) {
  __shared__ float parts[32];
  float own = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) own += x[i];
  for (int step = 16; step > 0; step /= 2) own += __shfl_down_sync(0xffffffffu, own, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = own;
  if (threadIdx.x != 0) return;
  for (int turn = 0; turn < 10; ++turn) __nanosleep(1000);
  float all = 0.0f;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) all += static_cast<volatile float *>(parts)[warp];
  *sum = all;
}

extern "C" void total(const float *x, float *sum, int n) { add<<<1, 1024>>>(x, sum, n); }
