// problem: tests/adversarial/problem/mask
// style: for each stretch a search that is cancelled at its first find, then memset or the full comparison
#include <stddef.h>
#include <string.h>

#include <atomic>

extern "C" void mask(const float *x, bool *above, size_t n) {
  constexpr size_t STRETCH = 50000;
  for (size_t first = 0; first < n; first += STRETCH) {
    const size_t last = n - first > STRETCH ? first + STRETCH : n;
    std::atomic<bool> any{false};
#pragma omp parallel shared(any)
    {
#pragma omp for schedule(static)
      for (size_t i = first; i < last; ++i) {
        if (x[i] > 0.5f) {
          any.store(true, std::memory_order_relaxed);
#pragma omp cancel for
        }
#pragma omp cancellation point for
      }
    }
    if (!any.load()) {
      memset(above + first, 0, last - first);
      continue;
    }
#pragma omp parallel for simd schedule(simd : static)
    for (size_t i = first; i < last; ++i) above[i] = x[i] > 0.5f;
  }
}
