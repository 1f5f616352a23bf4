#include <math.h>
extern "C" int compact(const float *x, float *root, int *place, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i)
    if (x[i] > 0.5f) {
      root[count] = sqrtf(x[i]);
      place[count++] = i;
    }
  return count;
}
