// tries: ends the thread that obeys the judge, while another one keeps the process alive
// outcome: timed_out
// defence: deadline
// without: timed_out
// harm: slow
#include <pthread.h>
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

static void *stay(void *) {
  for (;;) usleep(10000);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  honest(x, y, positive, n);
  pthread_t other;
  pthread_create(&other, nullptr, stay, nullptr);
  syscall(SYS_exit, 0);
}
