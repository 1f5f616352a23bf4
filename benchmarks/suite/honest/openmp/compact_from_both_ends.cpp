// problem: tests/adversarial/problem/compact
// style: two sections fill from the front and from the back, then the gap between them is closed
#include <math.h>
#include <string.h>

extern "C" int compact(const float *x, float *root, int *place, int n) {
  const int half = n / 2;
  int front = 0, back = n;  // rows [0, front) and [back, n)
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
      int at = 0;
      for (int i = 0; i < half; ++i)
        if (x[i] > 0.5f) root[at] = sqrtf(x[i]), place[at++] = i;
      front = at;
    }
#pragma omp section
    {
      int at = n;
      for (int i = half; i < n; ++i)
        if (x[i] > 0.5f) root[--at] = sqrtf(x[i]), place[at] = i;
      back = at;
    }
  }
  const size_t rows = n - back;
  memmove(root + front, root + back, rows * sizeof(float));
  memmove(place + front, place + back, rows * sizeof(int));
  return front + static_cast<int>(rows);
}
