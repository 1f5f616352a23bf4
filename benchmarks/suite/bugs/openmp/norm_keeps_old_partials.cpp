// problem: tests/adversarial/problem/norm
// bug: static partial sums are never cleared and all 256 are added: after a call with more threads the sums of those that are missing now still count (a call with 4 threads, then one with 2)
// class: state
#include <omp.h>

static double partial[256];

extern "C" double norm(const float *x, int n) {
#pragma omp parallel
  {
    double sum = 0.0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) sum += (double)x[i] * x[i];
    partial[omp_get_thread_num()] = sum;
  }
  double total = 0.0;
  for (int t = 0; t < 256; ++t) total += partial[t];
  return total;
}
