// style: float4 stores where alignment allows, scalar remainder, __ldg, restrict
// problem: smooth-device
#include <cuda_runtime.h>

__device__ static float at(const float *__restrict__ x, int i, int n) {
  const bool inside = i > 0 && i < n - 1;
  return inside ? 0.25f * __ldg(x + i - 1) + 0.5f * __ldg(x + i) + 0.25f * __ldg(x + i + 1) : 0.0f;
}

__global__ void kernel(const float *__restrict__ x, float *__restrict__ y, int *positive, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  int count = 0;
  for (int j = i; j < i + 4 && j < n; ++j) count += __ldg(x + j) > 0.0f;
  if (i + 3 < n && (reinterpret_cast<size_t>(y) & 15) == 0)
    *reinterpret_cast<float4 *>(y + i) =
        make_float4(at(x, i, n), at(x, i + 1, n), at(x, i + 2, n), at(x, i + 3, n));
  else
    for (int j = i; j < i + 4 && j < n; ++j) y[j] = at(x, j, n);
  if (count) atomicAdd(positive, count);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<(n / 4 + 256) / 256, 256>>>(x, y, positive, n);
}
