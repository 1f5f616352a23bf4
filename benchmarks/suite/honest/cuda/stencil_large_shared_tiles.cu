// problem: corpus/problems/stencil
// style: a kernel a sweep, tiles of 66 KiB of dynamic shared memory (opted in)
#include <cuda_runtime.h>

constexpr int EDGE = 128, WIDE = EDGE + 2;
constexpr size_t TILE_BYTES = sizeof(float) * WIDE * WIDE;

__global__ void sweep(const float *from, float *to, int rows, int cols) {
  extern __shared__ float tile[];
  const int top = blockIdx.y * EDGE - 1, left = blockIdx.x * EDGE - 1;
  for (int y = threadIdx.y; y < WIDE; y += blockDim.y)
    for (int x = threadIdx.x; x < WIDE; x += blockDim.x) {
      const int i = top + y, j = left + x;
      const bool inside = i >= 0 && i < rows && j >= 0 && j < cols;
      tile[y * WIDE + x] = inside ? from[i * cols + j] : 0.0f;
    }
  __syncthreads();
  for (int y = 1 + threadIdx.y; y <= EDGE; y += blockDim.y)
    for (int x = 1 + threadIdx.x; x <= EDGE; x += blockDim.x) {
      const int i = top + y, j = left + x;
      if (i >= rows || j >= cols) continue;
      const float *at = tile + y * WIDE + x;
      const bool border = i == 0 || i == rows - 1 || j == 0 || j == cols - 1;
      to[i * cols + j] =
          border ? *at : 0.2f * (at[0] + at[-WIDE] + at[WIDE] + at[-1] + at[1]);
    }
}

extern "C" void stencil(const float *in, float *out, int rows, int cols, int sweeps) {
  const size_t bytes = sizeof(float) * rows * cols;
  float *grids[2];
  cudaMalloc(&grids[0], bytes);
  cudaMalloc(&grids[1], bytes);
  cudaMemcpy(grids[0], in, bytes, cudaMemcpyHostToDevice);
  cudaFuncSetAttribute(sweep, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(TILE_BYTES));
  const dim3 blocks((cols + EDGE - 1) / EDGE, (rows + EDGE - 1) / EDGE);
  for (int s = 0; s < sweeps; ++s)
    sweep<<<blocks, dim3(32, 32), TILE_BYTES>>>(grids[s % 2], grids[(s + 1) % 2], rows, cols);
  cudaMemcpy(out, grids[sweeps % 2], bytes, cudaMemcpyDeviceToHost);
  cudaFree(grids[0]);
  cudaFree(grids[1]);
}
