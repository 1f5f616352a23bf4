// style: 4 by 4 results a thread in registers, k split over blocks, atomics into the result
// problem: matmul-device
#include <cuda_runtime.h>

enum { EDGE = 4, SPLIT = 4 };

__global__ void kernel(const float *a, const float *b, float *c, int m, int n, int k) {
  const int row = EDGE * (blockIdx.y * blockDim.y + threadIdx.y);
  const int column = EDGE * (blockIdx.x * blockDim.x + threadIdx.x);
  const int share = (k + SPLIT - 1) / SPLIT, first = blockIdx.z * share;
  float sums[EDGE][EDGE] = {};
  for (int l = first; l < min(k, first + share); ++l)
#pragma unroll
    for (int i = 0; i < EDGE; ++i) {
      const float left = row + i < m ? a[(row + i) * k + l] : 0.0f;
#pragma unroll
      for (int j = 0; j < EDGE; ++j)
        sums[i][j] += left * (column + j < n ? b[l * n + column + j] : 0.0f);
    }
  for (int i = 0; i < EDGE && row + i < m; ++i)
    for (int j = 0; j < EDGE && column + j < n; ++j)
      atomicAdd(&c[(row + i) * n + column + j], sums[i][j]);
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  cudaMemsetAsync(c, 0, static_cast<size_t>(m) * n * sizeof(float));
  kernel<<<dim3((n + 31) / 32, (m + 31) / 32, SPLIT), dim3(8, 8)>>>(a, b, c, m, n, k);
}
