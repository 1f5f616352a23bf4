// problem: corpus/problems/reduction
// style: pairwise halves, the upper ones by std::async futures, no OpenMP at all
#include <future>

namespace {
double pairwise(const float* x, int n, int level) {
  if (n <= 64) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += x[i];
    return sum;
  }
  const int half = n / 2;
  if (level == 0 || n < 20000) return pairwise(x, half, 0) + pairwise(x + half, n - half, 0);
  std::future<double> left = std::async(std::launch::async, pairwise, x, half, level - 1);
  const double right = pairwise(x + half, n - half, level - 1);
  return left.get() + right;
}
}  // namespace

extern "C" void reduction(const float* x, double* total, int n) { total[0] = pairwise(x, n, 2); }
