// style: host pointers; rows padded by cudaMallocPitch, cudaMemcpy2D both ways
// problem: matmul
#include <cuda_runtime.h>

__global__ void kernel(const float *a, const float *b, float *c, int3 pitch, int m, int n, int k) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m || j >= n) return;
  float sum = 0.0f;
  for (int l = 0; l < k; ++l) sum += a[i * pitch.x + l] * b[l * pitch.y + j];
  c[i * pitch.z + j] = sum;
}

struct Matrix {
  float *data = nullptr;
  size_t pitch = 0, width;
  int rows;
  Matrix(int rows, int columns) : width(columns * sizeof(float)), rows(rows) {
    cudaMallocPitch(&data, &pitch, width, rows);
  }
  ~Matrix() { cudaFree(data); }
  int stride() const { return static_cast<int>(pitch / sizeof(float)); }
};

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  const Matrix left(m, k), right(k, n), result(m, n);
  cudaMemcpy2D(left.data, left.pitch, a, left.width, left.width, m, cudaMemcpyHostToDevice);
  cudaMemcpy2D(right.data, right.pitch, b, right.width, right.width, k, cudaMemcpyHostToDevice);
  const int3 pitch = make_int3(left.stride(), right.stride(), result.stride());
  kernel<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(left.data, right.data, result.data,
                                                              pitch, m, n, k);
  cudaMemcpy2D(c, result.width, result.data, result.pitch, result.width, m, cudaMemcpyDeviceToHost);
}
