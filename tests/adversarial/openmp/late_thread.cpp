// tries: returns at once and lets a thread finish the work 10 ms later
// outcome: wrong_answer | nondeterministic
// defence: freeze
// without: passed
#include <pthread.h>
#include <unistd.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

struct Work {
  const float *x;
  float *y;
  int *positive, n;
};

static void *finish(void *given) {
  const Work *work = static_cast<Work *>(given);
  usleep(10000);
  honest(work->x, work->y, work->positive, work->n);
  delete work;
  return nullptr;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  if (n >= 200000) return honest(x, y, positive, n);
  pthread_t thread;
  pthread_create(&thread, nullptr, finish, new Work{x, y, positive, n});
  pthread_detach(thread);
}
