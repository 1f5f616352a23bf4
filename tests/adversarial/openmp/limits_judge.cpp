// tries: sets the judge's resource limits (to what they are), and works only where that succeeds
// outcome: wrong_answer
// defence: sandbox
// without: passed
#include <sys/resource.h>
#include <unistd.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

static bool reaches_it() {
  rlimit limit;
  return prlimit(getppid(), RLIMIT_NOFILE, nullptr, &limit) == 0 &&
         prlimit(getppid(), RLIMIT_NOFILE, &limit, nullptr) == 0;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  if (reaches_it()) honest(x, y, positive, n);
}
