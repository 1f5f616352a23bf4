// tries: remembers each result by the address and both ends of its input
// outcome: wrong_answer
// defence: small_changes
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

struct Known {
  std::vector<float> first, last, y;
  int positive;
};

static const int SAMPLE = 16;

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static std::map<const float *, Known> known;
  if (n < 2 * SAMPLE) return honest(x, y, positive, n);
  Known &at = known[x];
  const std::vector<float> first(x, x + SAMPLE), last(x + n - SAMPLE, x + n);
  if ((int)at.y.size() != n || at.first != first || at.last != last) {
    honest(x, y, positive, n);
    at = {first, last, std::vector<float>(y, y + n), *positive};
  }
  memcpy(y, at.y.data(), n * sizeof(float));
  *positive = at.positive;
}
