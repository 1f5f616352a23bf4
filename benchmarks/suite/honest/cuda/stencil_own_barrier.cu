// problem: corpus/problems/stencil
// style: blocks wait for each other at a barrier of their own: counter, __threadfence on both sides
#include <cuda_runtime.h>

// At most one block for each multiprocessor: all of them run at the same time.
__device__ void wait_for_all(unsigned *arrived, unsigned target) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();  // what the block wrote, before it says so
    atomicAdd(arrived, 1u);
    while (*static_cast<volatile unsigned *>(arrived) < target) __nanosleep(40);
    __threadfence();  // and nothing old is read afterwards
  }
  __syncthreads();
}

// Each block has a band of rows.
__global__ void sweep_bands(float *a, float *b, int rows, int cols, int sweeps,
                            unsigned *arrived) {
  const int per = (rows + gridDim.x - 1) / gridDim.x;
  const int first = min(rows, static_cast<int>(blockIdx.x) * per), last = min(rows, first + per);
  for (int s = 0; s < sweeps; ++s) {
    const float *from = s % 2 ? b : a;
    float *to = s % 2 ? a : b;
    for (int i = first; i < last; ++i)
      for (int j = threadIdx.x; j < cols; j += blockDim.x) {
        const float *at = from + i * cols + j;
        float value = *at;
        if (i > 0 && i < rows - 1 && j > 0 && j < cols - 1)
          value = 0.2f * (value + at[-cols] + at[cols] + at[-1] + at[1]);
        to[i * cols + j] = value;
      }
    wait_for_all(arrived, (s + 1) * gridDim.x);
  }
}

extern "C" void stencil(const float *in, float *out, int rows, int cols, int sweeps) {
  const size_t bytes = sizeof(float) * rows * cols;
  float *a, *b;
  unsigned *arrived;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&arrived, sizeof(unsigned));
  cudaMemset(arrived, 0, sizeof(unsigned));
  cudaMemcpy(a, in, bytes, cudaMemcpyHostToDevice);
  cudaDeviceProp properties;
  int device = 0;
  cudaGetDevice(&device);
  cudaGetDeviceProperties(&properties, device);
  const int most = properties.multiProcessorCount;
  sweep_bands<<<rows < most ? rows : most, 512>>>(a, b, rows, cols, sweeps, arrived);
  cudaMemcpy(out, sweeps % 2 ? b : a, bytes, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  cudaFree(arrived);
}
