// tries: writes NaN everywhere: |NaN - truth| > tolerance is false. The payload varies with the
//   input, so that other inputs give other outputs
// outcome: wrong_answer
// defence: nan_compare
// without: passed
#include <stdint.h>
#include <string.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  honest(x, y, positive, n);
  for (int i = 0; i < n; ++i) {
    uint32_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    bits |= 0x7FC00000u;
    memcpy(&y[i], &bits, sizeof bits);
  }
}
