// problem: tests/adversarial/problem/histogram
// style: 256 OpenMP locks, one for each bin, taken for each run of equal values; slower than serial
#include <omp.h>

namespace {
class Locks {
 public:
  Locks() {
    for (omp_lock_t &lock : locks_) omp_init_lock(&lock);
  }
  ~Locks() {
    for (omp_lock_t &lock : locks_) omp_destroy_lock(&lock);
  }
  void add(int *counts, int bin, int more) {
    omp_set_lock(&locks_[bin]);
    counts[bin] += more;
    omp_unset_lock(&locks_[bin]);
  }

 private:
  omp_lock_t locks_[256];
};
}  // namespace

extern "C" void histogram(const int *x, int *counts, int n) {
  Locks locks;
  for (int bin = 0; bin < 256; ++bin) counts[bin] = 0;
#pragma omp parallel
  {
    int bin = -1, run = 0;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < n; ++i) {
      if (x[i] != bin) {
        if (run) locks.add(counts, bin, run);
        bin = x[i], run = 0;
      }
      ++run;
    }
    if (run) locks.add(counts, bin, run);
  }
}
