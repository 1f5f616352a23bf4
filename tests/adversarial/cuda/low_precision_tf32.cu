// tries: tensor cores in tf32 where fp32 is asked for
// outcome: wrong_answer
// defence: comparison
// without: passed
// problem: matmul-device
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

__device__ static float at(const float *matrix, int row, int column, int rows, int columns) {
  return row < rows && column < columns ? matrix[row * columns + column] : 0.0f;
}

__global__ void kernel(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float left[16 * 8], right[8 * 16], result[16 * 16];
  const int row = blockIdx.y * 16, column = blockIdx.x * 16, lane = threadIdx.x;
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int step = 0; step < k; step += 8) {
    for (int i = lane; i < 128; i += 32) {
      left[i] = wmma::__float_to_tf32(at(a, row + i / 8, step + i % 8, m, k));
      right[i] = wmma::__float_to_tf32(at(b, step + i / 16, column + i % 16, k, n));
    }
    __syncwarp();
    wmma::load_matrix_sync(fa, left, 8);
    wmma::load_matrix_sync(fb, right, 16);
    wmma::mma_sync(sum, fa, fb, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(result, sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32)
    if (row + i / 16 < m && column + i % 16 < n) c[(row + i / 16) * n + column + i % 16] = result[i];
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  kernel<<<dim3((n + 15) / 16, (m + 15) / 16), 32>>>(a, b, c, m, n, k);
}
