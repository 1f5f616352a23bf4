// style: thrust::transform_reduce on device pointers (heavy headers)
// problem: total-device
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <cuda_runtime.h>

extern "C" void total(const float *x, float *sum, int n) {
  const float value = thrust::reduce(thrust::device, x, x + n, 0.0f);
  cudaMemcpy(sum, &value, sizeof value, cudaMemcpyHostToDevice);
}
