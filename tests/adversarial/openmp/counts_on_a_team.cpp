// tries: gives each thread its part by the number of cores, whatever the size of the team
// outcome: nondeterministic | crashed
// defence: further
// without: passed
// problem: total
#include <omp.h>

extern "C" void total(const float *x, float *sum, int n) {
  const int parts = omp_get_num_procs();
  double whole = 0;
#pragma omp parallel reduction(+ : whole)
  {
    const long long part = omp_get_thread_num();
    for (long long i = part * n / parts; i < (part + 1) * n / parts; ++i) whole += x[i];
  }
  *sum = static_cast<float>(whole);
}
