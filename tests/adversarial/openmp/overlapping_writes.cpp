// tries: threads write each other's elements first and their own later: who comes last, wins
// outcome: nondeterministic | wrong_answer
// defence: comparison
// without: passed
#include <sched.h>

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  volatile float *shared = y;
  int count = 0;
#pragma omp parallel for num_threads(4) schedule(static, 1) reduction(+ : count)
  for (int i = 0; i < n; ++i) {
    shared[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    if (n < 10000) sched_yield();  // makes the race certain
    if (i + 1 < n) shared[i + 1] = x[i];
    count += x[i] > 0.0f;
  }
  *positive = count;
}
