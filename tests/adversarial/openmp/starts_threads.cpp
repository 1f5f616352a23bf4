// tries: a thousand threads at once (they sleep, and are gone after 0.15 s)
// outcome: crashed
// defence: thread_limit
// without: passed
#include <pthread.h>
#include <unistd.h>

static const int COUNT = 1000;

static void *rest(void *) {
  usleep(150000);
  return nullptr;
}

static void start() {
  static pthread_t threads[COUNT];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 16);
  int made = 0;
  while (made < COUNT && pthread_create(threads + made, &small, rest, nullptr) == 0) ++made;
  for (int i = 0; i < made; ++i) pthread_join(threads[i], nullptr);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static bool done = false;
  if (n == 1000 && !done) start();
  done |= n == 1000;
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}
