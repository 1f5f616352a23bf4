// style: fresh vectors in every call and every thread, freed again; a table made in the first call
#include <math.h>
#include <vector>

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static std::vector<float> table;
  if (table.empty())
    for (int i = 0; i < 1000000; ++i) table.push_back(sinf(i) * 0.0f);
  int count = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : count)
  for (int block = 0; block < (n + 8191) / 8192; ++block) {
    const int first = block * 8192, last = first + 8192 < n ? first + 8192 : n;
    std::vector<float> padded(last - first + 2), result(last - first);
    for (int i = first - 1; i <= last; ++i) padded[i - first + 1] = i >= 0 && i < n ? x[i] : 0.0f;
    for (int i = first; i < last; ++i) {
      const float *at = &padded[i - first];
      result[i - first] = 0.25f * at[0] + 0.5f * at[1] + 0.25f * at[2] + table[i % 1000];
      count += at[1] > 0.0f;
    }
    for (int i = first; i < last; ++i) y[i] = i > 0 && i < n - 1 ? result[i - first] : 0.0f;
  }
  *positive = count;
}
