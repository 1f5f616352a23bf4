// tries: takes memory from malloc for zeroed, which fresh pages are
// outcome: wrong_answer
// defence: poison
// without: passed
#include <stdlib.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static int *const count = static_cast<int *>(malloc(size_t(64) << 20));
  honest(x, y, positive, n);
  *positive += count[0];
}
