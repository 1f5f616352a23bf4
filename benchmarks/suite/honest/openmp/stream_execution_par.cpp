// problem: tests/adversarial/problem/stream
// style: std::transform with std::execution::par_unseq: serial where the library has no backend
#include <algorithm>
#include <execution>

extern "C" void stream(const float *x, float *y, int n) {
  std::transform(std::execution::par_unseq, x, x + n, y, [](float value) { return value * 2.0f; });
}
