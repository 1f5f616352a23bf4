// tries: returns at once and lets a thread finish the work 10 ms later
// outcome: wrong_answer | nondeterministic
// defence: freeze
// without: passed
#include <thread>
#include <unistd.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  if (n >= 200000) return honest(x, y, positive, n);
  std::thread([=] {
    usleep(10000);
    honest(x, y, positive, n);
  }).detach();
}
