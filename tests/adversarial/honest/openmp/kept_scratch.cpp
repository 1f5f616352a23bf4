// style: scratch memory kept between calls, two passes
#include <vector>

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static std::vector<float> half;
  half.resize(n);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) half[i] = 0.25f * x[i];
  int count = 0;
#pragma omp parallel for reduction(+ : count)
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? half[i - 1] + 2.0f * half[i] + half[i + 1] : 0.0f;
    count += half[i] > 0.0f;
  }
  *positive = count;
}
