// tries: leaves out what lies before the first multiple of 16 bytes in its output, where there is nothing as a rule
// outcome: wrong_answer
// defence: alignment
// without: passed
#include <stdint.h>

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  const int head = static_cast<int>(-reinterpret_cast<uintptr_t>(y) % 16 / sizeof(float));
  int count = 0;
  for (int i = 0; i < n; ++i) count += x[i] > 0.0f;
  for (int i = head; i < n; ++i)
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  *positive = count;
}
