// style: parallel sections for two results, a future from std::async for the ends
#include <future>

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  auto ends = std::async(std::launch::async, [=] { y[0] = y[n - 1] = 0.0f; });
  int count = 0;
#pragma omp parallel sections
  {
#pragma omp section
    for (int i = 1; i < n - 1; ++i) y[i] = 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1];
#pragma omp section
    for (int i = 0; i < n; ++i) count += x[i] > 0.0f;
  }
  ends.wait();
  *positive = count;
}
