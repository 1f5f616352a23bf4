#include <stddef.h>
extern "C" void mask(const float *x, bool *above, size_t n) {
  for (size_t i = 0; i < n; ++i) above[i] = x[i] > 0.5f;
}
