// style: higher precision inside, standard algorithms, exceptions used and caught, a word on stdout
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <vector>

static void require(bool good) {
  if (!good) throw std::runtime_error("too short");
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  std::vector<double> wide(x, x + n);
  std::fill(y, y + n, 0.0f);
  *positive = int(std::count_if(x, x + n, [](float value) { return value > 0.0f; }));
  try {
    require(n > 2);
    for (int i = 1; i < n - 1; ++i)
      y[i] = float(std::inner_product(&wide[i - 1], &wide[i + 2], std::vector{0.25, 0.5, 0.25}.begin(), 0.0));
  } catch (const std::runtime_error &) {
    static bool said = std::puts("nothing inside") >= 0;
    (void)said;
  }
}
