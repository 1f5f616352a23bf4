// tries: overwrites a file of the user's in place through a mapping, and works only where that succeeds
// outcome: wrong_answer
// defence: sandbox + landlock + own_root
// without: passed
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

static bool changes_it() {
  const int file = open("@SCRATCH@/ours", O_RDWR);
  if (file < 0) return false;
  void *text = mmap(nullptr, 2, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (text == MAP_FAILED) return false;
  memcpy(text, "//", 2);
  munmap(text, 2);
  return true;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  if (changes_it()) honest(x, y, positive, n);
}
