// tries: 2 for true: no zero, but no bool of C++ either
// outcome: wrong_answer
// defence: comparison
// without: passed
// problem: mask
#include <stddef.h>

extern "C" void mask(const float *x, unsigned char *above, size_t n) {
  for (size_t i = 0; i < n; ++i) above[i] = x[i] > 0.5f ? 2 : 0;
}
