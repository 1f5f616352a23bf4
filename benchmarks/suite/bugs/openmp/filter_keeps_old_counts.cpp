// problem: tests/adversarial/problem/filter
// bug: static counts are not cleared: a thread without elements leaves the count of the call before (n = 1000, then n = 1 with 2 threads: found is too large)
// class: state
#include <omp.h>
#include <algorithm>

static int counts[512];

extern "C" void filter(const int *x, int *kept, int *found, int n) {
  int used = 1;
#pragma omp parallel
  {
    const int t = omp_get_thread_num(), threads = omp_get_num_threads();
    const int chunk = (n + threads - 1) / threads;
    const int begin = t * chunk, end = std::min(n, begin + chunk);
    if (begin < n) {
      int count = 0;
      for (int i = begin; i < end; ++i) count += x[i] % 3 == 0;
      counts[t] = count;
    }
#pragma omp single
    used = threads;
    if (begin < n) {
      int at = 0;
      for (int other = 0; other < t; ++other) at += counts[other];
      for (int i = begin; i < end; ++i)
        if (x[i] % 3 == 0) kept[at++] = x[i];
    }
  }
  int total = 0;
  for (int t = 0; t < used; ++t) total += counts[t];
  *found = total;
}
