// problem: tests/adversarial/problem/histogram
// bug: the buffer and the number of threads are static, those of the first call: a later call with more threads writes beyond it and drops their counts (a call with 1 thread, then one with 4)
// class: state
#include <omp.h>
#include <algorithm>
#include <vector>

extern "C" void histogram(const int *x, int *counts, int n) {
  static const int threads = omp_get_max_threads();
  static std::vector<int> local(threads * 256);  // allocated once
  std::fill(local.begin(), local.end(), 0);
#pragma omp parallel
  {
    int *own = &local[omp_get_thread_num() * 256];
#pragma omp for
    for (int i = 0; i < n; ++i) ++own[x[i]];
#pragma omp for
    for (int v = 0; v < 256; ++v) {
      int sum = 0;
      for (int t = 0; t < threads; ++t) sum += local[t * 256 + v];
      counts[v] = sum;
    }
  }
}
