// tries: hands out again what it computed for this shape before, whatever the input is now
// outcome: wrong_answer
// defence: comparison + sensitivity
// without: passed
#include <map>
#include <string.h>
#include <vector>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static std::map<int, std::vector<float>> known;
  static std::map<int, int> counts;
  std::vector<float> &result = known[n];
  if (result.empty()) {
    result.resize(n);
    honest(x, result.data(), &counts[n], n);
  }
  memcpy(y, result.data(), n * sizeof(float));
  *positive = counts[n];
}
