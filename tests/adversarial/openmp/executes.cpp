// tries: replaces itself by a shell
// outcome: passed
// defence: sandbox + landlock + own_root
// without: crashed
// harm: file
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
  honest(x, y, positive, n);
  execl("/bin/sh", "sh", "-c", ": > '@SCRATCH@/made'", nullptr);
}
