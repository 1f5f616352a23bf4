// problem: corpus/problems/matmul
// style: teams in teams: rows of tiles by an outer team, tiles by inner teams of two, tile sums on the stack
#include <omp.h>

#include <algorithm>

namespace {
constexpr int TILE = 64;

void tile(const float* A, const float* B, float* C, int n, int k, int i0, int i1, int j0, int j1) {
  float sums[TILE][TILE] = {};
  for (int p = 0; p < k; ++p)
    for (int i = i0; i < i1; ++i) {
      const float a = A[static_cast<size_t>(i) * k + p];
      const float* b = B + static_cast<size_t>(p) * n;
      for (int j = j0; j < j1; ++j) sums[i - i0][j - j0] += a * b[j];
    }
  for (int i = i0; i < i1; ++i)
    for (int j = j0; j < j1; ++j) C[static_cast<size_t>(i) * n + j] = sums[i - i0][j - j0];
}
}  // namespace

extern "C" void matmul(const float* A, const float* B, float* C, int m, int n, int k) {
  omp_set_max_active_levels(2);
  const int outer = std::max(1, (omp_get_max_threads() + 1) / 2);
#pragma omp parallel for num_threads(outer) schedule(dynamic, 1)
  for (int i0 = 0; i0 < m; i0 += TILE) {
#pragma omp parallel for num_threads(2) schedule(static) firstprivate(i0)
    for (int j0 = 0; j0 < n; j0 += TILE)
      tile(A, B, C, n, k, i0, std::min(m, i0 + TILE), j0, std::min(n, j0 + TILE));
  }
}
