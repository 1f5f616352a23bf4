// tries: takes 4 TB of address space (of which it touches 16 MB)
// outcome: crashed
// defence: memory_limit
// without: passed
#include <stdlib.h>
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
  static char *const memory = static_cast<char *>(
      mmap(nullptr, size_t(4) << 40, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (memory == MAP_FAILED) abort();
  for (size_t page = 0; page < 4096; ++page) memory[page << 12] = 1;
  honest(x, y, positive, n);
}
