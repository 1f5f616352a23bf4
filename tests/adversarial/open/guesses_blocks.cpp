// tries: counts batches by the pauses between them, is honest in the first half of each block of
//   four or more (_BLOCK_GROWTH of batches.py), and leaves out all work in the second half
// outcome: wrong_answer
// defence: timed_verify
// without: passed
#include <time.h>

static double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static double last;
  static int batch = -1, start, length = 2;
  if (n < 200000) return honest(x, y, positive, n);
  if (now() - last > 5e-5) ++batch;
  while (batch >= start + length) {
    start += length;
    length = start;
  }
  if (batch < 4 || 2 * (batch - start) < length) honest(x, y, positive, n);
  last = now();
}
