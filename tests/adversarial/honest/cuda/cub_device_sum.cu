// style: cub's sum over the whole device, its scratch memory asked for and kept
// problem: total-device
#include <cub/cub.cuh>
#include <cuda_runtime.h>

extern "C" void total(const float *x, float *sum, int n) {
  static void *scratch = nullptr;
  static size_t room = 0;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, x, sum, n);
  if (room < bytes) {
    cudaFree(scratch);
    cudaMalloc(&scratch, bytes);
    room = bytes;
  }
  cub::DeviceReduce::Sum(scratch, bytes, x, sum, n);
}
