// style: two hundred tiny parallel regions in each call, some of them nested
#include <omp.h>

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  omp_set_max_active_levels(2);
  int count = 0;
  for (int first = 0; first < n; first += 1000) {
    const int last = first + 1000 < n ? first + 1000 : n;
#pragma omp parallel for reduction(+ : count)
    for (int i = first; i < last; ++i) {
      y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
      count += x[i] > 0.0f;
    }
  }
  int again = 0;
#pragma omp parallel num_threads(2) reduction(+ : again)
  {
    int mine = 0;
#pragma omp parallel for num_threads(2) reduction(+ : mine)
    for (int i = omp_get_thread_num(); i < n; i += 1 + omp_get_ancestor_thread_num(0)) mine += 0;
    again += mine;
  }
  *positive = count + again;
}
