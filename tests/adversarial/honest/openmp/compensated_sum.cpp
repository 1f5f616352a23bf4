// style: Kahan summation in blocks, partial sums kept in a fixed order
// problem: total
#include <vector>

static float block(const float *x, int n) {
  volatile float lost = 0.0f;  // keeps the compiler from simplifying it away
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) {
    const float next = x[i] - lost;
    const float grown = sum + next;
    lost = (grown - sum) - next;
    sum = grown;
  }
  return sum;
}

extern "C" void total(const float *x, float *sum, int n) {
  constexpr int BLOCK = 4096;
  const int blocks = (n + BLOCK - 1) / BLOCK;
  std::vector<float> parts(blocks);
#pragma omp parallel for
  for (int i = 0; i < blocks; ++i)
    parts[i] = block(x + i * BLOCK, i + 1 < blocks ? BLOCK : n - i * BLOCK);
  *sum = block(parts.data(), blocks);
}
