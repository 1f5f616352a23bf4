// style: collapsed loops over blocks, a transposed copy, simd in the innermost loop
// problem: matmul
#include <algorithm>
#include <vector>

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  std::vector<float> turned(static_cast<size_t>(n) * k);
  for (int l = 0; l < k; ++l)
    for (int j = 0; j < n; ++j) turned[static_cast<size_t>(j) * k + l] = b[l * n + j];
#pragma omp parallel for collapse(2)
  for (int first = 0; first < m; first += 32)
    for (int j = 0; j < n; ++j)
      for (int i = first; i < std::min(m, first + 32); ++i) {
        const float *left = a + i * k, *right = &turned[static_cast<size_t>(j) * k];
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int l = 0; l < k; ++l) sum += left[l] * right[l];
        c[i * n + j] = sum;
      }
}
