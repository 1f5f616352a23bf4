// tries: leaves a process behind by a system call of 32-bit programs, which has another number
// outcome: passed | crashed
// defence: sandbox
// without: passed
// harm: process
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

static long forked() {
#ifdef __x86_64__
  long made = 2;
  asm volatile("int $0x80" : "+a"(made) : : "memory", "r8", "r9", "r10", "r11");
  return made;
#else
  return fork();
#endif
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static bool bred = false;
  honest(x, y, positive, n);
  if (!bred && forked() == 0) {
    setsid();
    prctl(PR_SET_NAME, "adv@PORT@");
    sleep(3);
    _exit(0);
  }
  bred = true;
}
