// problem: corpus/problems/spmv
// style: equal shares of the nonzeros: rows are cut in two, their rests carried to the end
#include <omp.h>

#include <algorithm>
#include <vector>

namespace {
struct alignas(64) Rest {
  int row = -1;
  float sum = 0.0f;
};
}  // namespace

extern "C" void spmv(const int* start, const int* column, const float* value, const float* x,
                     float* y, int rows, int nonzeros) {
  (void)nonzeros;
  const int from = start[0], all = start[rows] - from;
  std::vector<Rest> rests(omp_get_max_threads());
#pragma omp parallel
  {
    const int me = omp_get_thread_num(), team = omp_get_num_threads();
    const int k0 = from + int(1LL * all * me / team), k1 = from + int(1LL * all * (me + 1) / team);
    // rows that start in [k0, k1) are written here; what is before them belongs to an earlier row
    const int first = int(std::lower_bound(start, start + rows, k0) - start);
    const int last = me + 1 < team ? int(std::lower_bound(start, start + rows, k1) - start) : rows;
    const int until = std::min(start[first], k1);
    if (k0 < until) {
      float sum = 0.0f;
      for (int k = k0; k < until; ++k) sum += value[k] * x[column[k]];
      rests[me].row = first - 1;
      rests[me].sum = sum;
    }
    for (int i = first; i < last; ++i) {
      const int end = std::min(start[i + 1], k1);
      float sum = 0.0f;
      for (int k = start[i]; k < end; ++k) {
        if (k + 16 < end) __builtin_prefetch(x + column[k + 16]);
        sum += value[k] * x[column[k]];
      }
      y[i] = sum;
    }
  }
  for (const Rest& rest : rests)
    if (rest.row >= 0) y[rest.row] += rest.sum;
}
