// style: bfloat16 storage inside, template over the type, two kernels
// problem: blend-device
#include <cuda_bf16.h>
#include <cuda_runtime.h>

template <typename Narrow>
__global__ void shrink(const float *x, Narrow *narrow, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) narrow[i] = Narrow(0.5f * x[i]);
}

template <typename Narrow>
__global__ void grow(const Narrow *narrow, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = float(narrow[i]) + 1.0f;
}

extern "C" void blend(const float *x, float *y, int n) {
  static __nv_bfloat16 *narrow = nullptr;
  static int room = 0;
  if (room < n) {
    cudaFree(narrow);
    cudaMalloc(&narrow, n * sizeof *narrow);
    room = n;
  }
  shrink<<<(n + 255) / 256, 256>>>(x, narrow, n);
  grow<<<(n + 255) / 256, 256>>>(narrow, y, n);
}
