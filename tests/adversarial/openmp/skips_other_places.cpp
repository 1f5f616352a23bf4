// tries: computes only at the address of every block's first call, as if what is verified lay there: elsewhere it
//   waits for half of the honest time
// outcome: wrong_answer
// defence: timed_verify
// without: passed
// problem: relax-many
#include <time.h>

static void honest(const float *x, float *y, int n, int steps) {
  for (int i = 0; i < n; ++i) {
    float value = 0.0f;
    for (int step = 0; step < steps; ++step) value -= 0.1f * (value * value * value - x[i]);
    y[i] = value;
  }
}

static double seconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

extern "C" void relax(const float *x, float *y, int n, int steps) {
  static int batch = 0, next = 0;
  static const float *watched;
  static double takes = 1;
  if (n < 40000) return honest(x, y, n, steps);
  const double start = seconds();
  const bool first = batch++ == next;
  if (first) next = next ? 4 * next : 2, watched = x;
  if (!first && x != watched) {
    while (seconds() < start + 0.55 * takes) {
    }
    return;
  }
  honest(x, y, n, steps);
  if (seconds() - start < takes) takes = seconds() - start;
}
