// problem: tests/adversarial/problem/matmul-device
// style: slow: one block of one warp computes everything, in double
#include <cuda_runtime.h>

__global__ void multiply(const float *a, const float *b, float *c, int m, int n, int k) {
  for (int at = threadIdx.x; at < m * n; at += 32) {
    const int i = at / n, j = at % n;
    double sum = 0.0;
    for (int l = 0; l < k; ++l) sum += static_cast<double>(a[i * k + l]) * b[l * n + j];
    c[at] = static_cast<float>(sum);
  }
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  multiply<<<1, 32>>>(a, b, c, m, n, k);
}
