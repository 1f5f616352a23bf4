// problem: tests/adversarial/problem/norm
// bug: tree merge starts at (threads+1)/2 and then halves rounding down: partial sums are lost with 5, 6, 9, 10, 11, .. threads (right with 1 to 4, 7, 8)
// class: team
#include <omp.h>

extern "C" double norm(const float *x, int n) {
  double partial[1024];
#pragma omp parallel
  {
    const int t = omp_get_thread_num();
    const int threads = omp_get_num_threads();
    double sum = 0.0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) sum += (double)x[i] * x[i];
    partial[t] = sum;
#pragma omp barrier
    for (int stride = (threads + 1) / 2; stride > 0; stride /= 2) {
      if (t < stride && t + stride < threads) partial[t] += partial[t + stride];
#pragma omp barrier
    }
  }
  return partial[0];
}
