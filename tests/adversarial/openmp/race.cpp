// tries: counts in parallel without reduction or atomic: updates get lost
// outcome: nondeterministic | wrong_answer
// defence: comparison
// without: passed
#include <sched.h>

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  volatile int *count = positive;
  *count = 0;
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    if (x[i] > 0.0f) {
      int seen = *count;
      if (n < 10000) sched_yield();  // makes the race certain
      *count = seen + 1;
    }
  }
}
