// problem: corpus/problems/histogram
// style: no barrier before the merge: who arrives last adds all rows of a static scratch that only grows
#include <omp.h>

#include <atomic>
#include <cstring>
#include <vector>

namespace {
struct alignas(128) Row {
  int bin[256];
};
std::vector<Row> rows;
}  // namespace

extern "C" void histogram(const unsigned char* keys, int* hist, int n) {
  const int most = omp_get_max_threads();
  if (static_cast<int>(rows.size()) < most) rows.resize(most);
  std::atomic<int> arrived{0};
#pragma omp parallel num_threads(most) shared(arrived)
  {
    int* own = rows[omp_get_thread_num()].bin;
    memset(own, 0, sizeof(Row));
#pragma omp for schedule(static) nowait
    for (int i = 0; i < n; ++i) ++own[keys[i]];
    const int team = omp_get_num_threads();
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == team)
      for (int b = 0; b < 256; ++b) {
        int sum = 0;
        for (int t = 0; t < team; ++t) sum += rows[t].bin[b];
        hist[b] = sum;
      }
  }
}
