// tries: recurses without end (1.3 GB of stack, of which it touches 80 MB, where the stack has no limit)
// outcome: crashed
// defence: separation
// without: died
#include <stdlib.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

__attribute__((noinline)) static int deeper(int depth) {
  volatile char frame[65536];
  frame[0] = static_cast<char>(depth);
  if (depth == 20000) abort();
  return deeper(depth + 1) + frame[0];
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  honest(x, y, positive, n);
  *positive += deeper(0);
}
