// tries: counts in 16 bits in each thread: enough unless one value comes most of the time
// outcome: wrong_answer
// defence: further
// without: passed
// problem: histogram
#include <stdint.h>
#include <string.h>

extern "C" void histogram(const int *x, int *counts, int n) {
  memset(counts, 0, 256 * sizeof *counts);
#pragma omp parallel num_threads(2)
  {
    uint16_t own[256] = {};
#pragma omp for
    for (int i = 0; i < n; ++i) ++own[x[i]];
#pragma omp critical
    for (int v = 0; v < 256; ++v) counts[v] += own[v];
  }
}
