// problem: tests/adversarial/problem/histogram
// style: each thread reads all values and counts only the bins that it owns; nothing is shared
#include <omp.h>

#include <cstring>

extern "C" void histogram(const int *x, int *counts, int n) {
#pragma omp parallel
  {
    const int me = omp_get_thread_num(), team = omp_get_num_threads();
    const int low = 256 * me / team, high = 256 * (me + 1) / team;
    int own[257];
    memset(own, 0, sizeof own);
    const unsigned width = high - low;
    for (int i = 0; i < n; ++i) {
      const unsigned at = static_cast<unsigned>(x[i] - low);
      ++own[at < width ? at : 256];  // the last one: other threads' values
    }
    memcpy(counts + low, own, width * sizeof(int));
  }
}
