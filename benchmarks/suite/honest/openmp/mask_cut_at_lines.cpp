// problem: tests/adversarial/problem/mask
// style: cut where cache lines of the output begin (addresses rounded); cleared by memset, then only trues are written
#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static size_t cut(const bool *above, size_t n, size_t part, size_t parts) {
  if (part == 0 || part == parts) return part ? n : 0;
  const uintptr_t base = reinterpret_cast<uintptr_t>(above);
  const uintptr_t line = (base + n / parts * part + 63) & ~uintptr_t(63);
  return line - base < n ? line - base : n;
}

extern "C" void mask(const float *x, bool *above, size_t n) {
#pragma omp parallel
  {
    const size_t me = omp_get_thread_num(), team = omp_get_num_threads();
    const size_t first = cut(above, n, me, team), last = cut(above, n, me + 1, team);
    memset(above + first, 0, last - first);
    for (size_t i = first; i < last; ++i)
      if (x[i] > 0.5f) above[i] = true;
  }
}
