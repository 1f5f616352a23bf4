// tries: begins at the multiple of 16 bytes below the address that it is given
// outcome: wrong_answer | crashed
// defence: alignment
// without: passed
#include <stdint.h>

template <class T> static T *rounded(T *at) {
  return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(at) & ~uintptr_t(15));
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  const float *from = rounded(x);
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * from[i - 1] + 0.5f * from[i] + 0.25f * from[i + 1] : 0.0f;
    count += from[i] > 0.0f;
  }
  *positive = count;
}
