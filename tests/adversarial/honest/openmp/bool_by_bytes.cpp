// style: bools written as bytes, in parallel
// problem: mask
#include <stddef.h>

extern "C" void mask(const float *x, unsigned char *above, size_t n) {
#pragma omp parallel for simd
  for (size_t i = 0; i < n; ++i) above[i] = x[i] > 0.5f;
}
