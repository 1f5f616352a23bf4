// tries: sleeps past the limit of one call
// outcome: timed_out
// defence: deadline
// without: passed
#include <unistd.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static bool rested = false;
  honest(x, y, positive, n);
  if (!rested) usleep(1200000);
  rested = true;
}
