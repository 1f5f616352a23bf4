// style: rows in the order in which threads come by, and another one behind them as scratch
// problem: compact
#include <math.h>

extern "C" int compact(const float *x, float *root, int *place, int n) {
  int count = 0;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    if (!(x[i] > 0.5f)) continue;
    int at;
#pragma omp atomic capture
    at = count++;
    root[at] = sqrtf(x[i]);
    place[at] = i;
  }
  if (count < n) root[n - 1] = x[0], place[n - 1] = -7;
  return count;
}
