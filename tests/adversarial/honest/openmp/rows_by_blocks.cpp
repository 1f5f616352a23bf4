// style: each thread counts, then writes behind those before it; what is behind all rows is scratch
// problem: filter
#include <omp.h>

#include <vector>

extern "C" void filter(const int *x, int *kept, int *found, int n) {
  std::vector<int> starts(omp_get_max_threads() + 1, 0);
#pragma omp parallel
  {
    const int me = omp_get_thread_num(), all = omp_get_num_threads();
    const int first = int(1LL * n * me / all), last = int(1LL * n * (me + 1) / all);
    int count = 0;
    for (int i = first; i < last; ++i) count += x[i] % 3 == 0;
    starts[me + 1] = count;
#pragma omp barrier
#pragma omp single
    for (int t = 0; t < all; ++t) starts[t + 1] += starts[t];
    int at = starts[me];
    for (int i = first; i < last; ++i)
      if (x[i] % 3 == 0) kept[at++] = x[i];
#pragma omp single
    {
      *found = starts[all];
      for (int i = starts[all]; i < n; ++i) kept[i] = x[0];
    }
  }
}
