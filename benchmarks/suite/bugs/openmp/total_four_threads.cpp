// problem: tests/adversarial/problem/total
// bug: num_threads(4) is taken for granted: where the team is smaller (called in a parallel region, OMP_THREAD_LIMIT=2, OMP_DYNAMIC) quarters are left out
// class: other
#include <omp.h>

#define THREADS 4

extern "C" void total(const float *x, float *sum, int n) {
  double partial[THREADS] = {0, 0, 0, 0};
  const int quarter = n / THREADS;
#pragma omp parallel num_threads(THREADS)
  {
    const int t = omp_get_thread_num();
    const int begin = t * quarter;
    const int end = t == THREADS - 1 ? n : begin + quarter;
    double local = 0;
    for (int i = begin; i < end; ++i) local += x[i];
    partial[t] = local;
  }
  *sum = (float)(partial[0] + partial[1] + partial[2] + partial[3]);
}
