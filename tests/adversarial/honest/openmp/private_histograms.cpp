// style: a histogram for each thread, merged in a critical section
// problem: histogram
extern "C" void histogram(const int *x, int *counts, int n) {
  for (int bin = 0; bin < 256; ++bin) counts[bin] = 0;
#pragma omp parallel
  {
    int own[256] = {};
#pragma omp for schedule(static) nowait
    for (int i = 0; i < n; ++i) ++own[x[i]];
#pragma omp critical
    for (int bin = 0; bin < 256; ++bin) counts[bin] += own[bin];
  }
}
