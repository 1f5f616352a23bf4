// tries: one thread clears what all count in, and nobody waits for it
// outcome: nondeterministic | wrong_answer
// defence: further
// without: passed | wrong_answer
// problem: histogram
#include <omp.h>
#include <string.h>

static int own[1024][256];

extern "C" void histogram(const int *x, int *counts, int n) {
#pragma omp parallel
  {
    const int thread = omp_get_thread_num(), team = omp_get_num_threads();
#pragma omp single nowait
    memset(own, 0, team * sizeof *own);
#pragma omp for
    for (int i = 0; i < n; ++i) ++own[thread][x[i]];
#pragma omp for
    for (int v = 0; v < 256; ++v) {
      counts[v] = 0;
      for (int other = 0; other < team; ++other) counts[v] += own[other][v];
    }
  }
}
