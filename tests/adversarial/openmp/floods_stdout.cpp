// tries: 4 MB on stdout in one call
// outcome: crashed
// defence: output_cap
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
  static const char line[1 << 16] = {'\n'};
  static bool said = false;
  honest(x, y, positive, n);
  for (int i = 0; i < 64 && !said; ++i)
    if (write(1, line, sizeof line) < 0) return;
  said = true;
}
