// problem: corpus/problems/matmul
// style: panels of B copied one ahead into two buffers in turn, by nowait loops and one barrier a panel
#include <algorithm>
#include <cstring>
#include <memory>

extern "C" void matmul(const float* A, const float* B, float* C, int m, int n, int k) {
  constexpr int DEPTH = 24;
  const size_t width = n;
  std::unique_ptr<float[]> room(new float[2 * DEPTH * width]);
  float* panels = room.get();
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int q = 0; q < std::min(DEPTH, k); ++q)
      memcpy(panels + q * width, B + q * width, width * sizeof(float));
    int turn = 0;
    for (int first = 0; first < k; first += DEPTH, turn ^= 1) {
      const int deep = std::min(DEPTH, k - first), after = first + deep;
      const float* now = panels + turn * DEPTH * width;
      float* next = panels + (turn ^ 1) * DEPTH * width;
#pragma omp for schedule(static) nowait
      for (int q = 0; q < std::min(DEPTH, k - after); ++q)
        memcpy(next + q * width, B + (after + q) * width, width * sizeof(float));
#pragma omp for schedule(static)
      for (int i = 0; i < m; ++i) {
        float* row = C + i * width;
        if (first == 0) std::fill(row, row + width, 0.0f);
        for (int q = 0; q < deep; ++q) {
          const float a = A[static_cast<size_t>(i) * k + first + q];
          const float* right = now + q * width;
#pragma omp simd
          for (int j = 0; j < n; ++j) row[j] += a * right[j];
        }
      }
      // the loop's barrier: `next` is full, and nobody reads `now` any more
    }
  }
}
