// problem: tests/adversarial/problem/compact
// bug: each thread has buffers for 32768 rows: more than that overflow the heap (one thread at n = 100003, or two where all values are above 0.5)
// class: other
#include <math.h>
#include <string.h>
#include <vector>

static const int ROOM = 32768;

extern "C" int compact(const float *x, float *root, int *place, int n) {
  int total = 0;
#pragma omp parallel
  {
    std::vector<float> roots(ROOM);
    std::vector<int> places(ROOM);
    int count = 0;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < n; ++i) {
      if (x[i] > 0.5f) {
        roots[count] = sqrtf(x[i]);
        places[count] = i;
        ++count;
      }
    }
    int at;
#pragma omp atomic capture
    { at = total; total += count; }
    memcpy(root + at, roots.data(), count * sizeof(float));
    memcpy(place + at, places.data(), count * sizeof(int));
  }
  return total;
}
