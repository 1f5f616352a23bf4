// A mapping of its own for each call: large pages asked for, filled at once, grown, given back.
#include <string.h>
#include <sys/mman.h>

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  const size_t bytes = (sizeof(float) * n + (4u << 20)) & ~size_t(4095);
  const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, how, -1, 0);
  madvise(made, bytes, MADV_HUGEPAGE);
  madvise(made, bytes, 23);  // filled now, where the kernel can
  float *own = static_cast<float *>(mremap(made, bytes, 2 * bytes, MREMAP_MAYMOVE));
  memcpy(own, x, sizeof(float) * n);
  mprotect(own, bytes, PROT_READ);
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * own[i - 1] + 0.5f * own[i] + 0.25f * own[i + 1] : 0.0f;
    count += own[i] > 0.0f;
  }
  madvise(own, bytes, MADV_DONTNEED);
  munmap(own, 2 * bytes);
  *positive = count;
}
