// problem: tests/adversarial/problem/filter
// style: an ordered region reserves room for each block, schedule(static, 1); copying outside of it
#include <vector>

extern "C" void filter(const int *x, int *kept, int *found, int n) {
  constexpr int BLOCK = 700;
  const int blocks = (n + BLOCK - 1) / BLOCK;
  int next = 0;
#pragma omp parallel
  {
    std::vector<int> mine;
    mine.reserve(BLOCK);
#pragma omp for ordered schedule(static, 1)
    for (int b = 0; b < blocks; ++b) {
      mine.clear();
      for (int i = b * BLOCK; i < n && i < (b + 1) * BLOCK; ++i)
        if (x[i] % 3 == 0) mine.push_back(x[i]);
      int at;
#pragma omp ordered
      {
        at = next;
        next += static_cast<int>(mine.size());
      }
      for (const int value : mine) kept[at++] = value;
    }
#pragma omp single
    *found = next;
  }
}
