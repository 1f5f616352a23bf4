// tries: keeps six of the eleven significant bits of a half
// outcome: wrong_answer
// defence: comparison
// without: passed
// problem: half
#include <stdint.h>
#include <string.h>

extern "C" void half(const _Float16 *x, _Float16 *y, int n) {
  for (int i = 0; i < n; ++i) {
    y[i] = x[i] + x[i] + static_cast<_Float16>(1.0f);
    uint16_t bits;
    memcpy(&bits, &y[i], sizeof bits);
    bits &= 0xFFE0;
    memcpy(&y[i], &bits, sizeof bits);
  }
}
