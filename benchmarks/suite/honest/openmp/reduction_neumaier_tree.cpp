// problem: corpus/problems/reduction
// style: Neumaier's compensated sums in padded slots, room by single copyprivate, a tree with barriers
#include <omp.h>

#include <cmath>

namespace {
struct alignas(128) Part {
  double sum, lost;
};

void add(Part& part, double value) {
  const double sum = part.sum + value;
  part.lost += std::fabs(part.sum) >= std::fabs(value) ? (part.sum - sum) + value
                                                       : (value - sum) + part.sum;
  part.sum = sum;
}
}  // namespace

extern "C" void reduction(const float* x, double* total, int n) {
#pragma omp parallel
  {
    const int me = omp_get_thread_num(), team = omp_get_num_threads();
    Part* parts;
#pragma omp single copyprivate(parts)
    parts = new Part[team];
    Part own = {0.0, 0.0};
#pragma omp for schedule(static) nowait
    for (int i = 0; i < n; ++i) add(own, x[i]);
    parts[me] = own;
    for (int reach = 1; reach < team; reach *= 2) {
#pragma omp barrier
      if (me % (2 * reach) == 0 && me + reach < team) {
        parts[me].lost += parts[me + reach].lost;
        add(parts[me], parts[me + reach].sum);
      }
    }
    if (me == 0) {
      total[0] = parts[0].sum + parts[0].lost;
      delete[] parts;
    }
  }
}
