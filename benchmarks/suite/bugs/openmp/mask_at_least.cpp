// problem: tests/adversarial/problem/mask
// bug: x >= 0.5 instead of x > 0.5: wrong where x is exactly 0.5, which drawn numbers hardly ever are
// class: value
#include <stddef.h>

extern "C" void mask(const float *x, bool *above, size_t n) {
#pragma omp parallel for simd schedule(static)
  for (size_t i = 0; i < n; ++i) above[i] = x[i] < 0.5f ? false : true;
}
