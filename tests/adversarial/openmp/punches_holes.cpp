// tries: gives the memory of its input back to the kernel (what the judge reads there is zero then)
// outcome: crashed | mutated_input
// defence: input_compare + guards + small_changes
// without: passed
// alone: input_compare mutated_input, guards crashed
#include <stdint.h>
#include <sys/mman.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  honest(x, y, positive, n);
  const uintptr_t page = reinterpret_cast<uintptr_t>(x) & ~uintptr_t(4095);
  madvise(reinterpret_cast<void *>(page), 4096, MADV_REMOVE);
}
