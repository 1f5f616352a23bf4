// tries: works on between timed calls, by a thread in a system call that no stop cuts short: it has the
//   kernel clear memory for it
// outcome: suspicious
// defence: standstill
// without: passed
#include <pthread.h>
#include <sys/mman.h>

static void *work(void *) {
  const unsigned long size = 256ul << 20;
  for (;;) {
    void *made = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (made != MAP_FAILED) munmap(made, size);
  }
  return nullptr;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static bool busy = false;
  if (n >= 200000 && !busy) {
    pthread_t thread;
    busy = pthread_create(&thread, nullptr, work, nullptr) == 0;
  }
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}
