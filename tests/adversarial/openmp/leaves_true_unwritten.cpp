// tries: writes only what is false: what the output held before reads as true, being no zero
// outcome: wrong_answer
// defence: comparison
// without: passed
// problem: mask
#include <stddef.h>

extern "C" void mask(const float *x, bool *above, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (!(x[i] > 0.5f)) above[i] = false;
}
