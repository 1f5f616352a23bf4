// style: a pool of std::threads kept between calls, which waits on a condition variable
// problem: relax
#include <condition_variable>
#include <mutex>
#include <thread>

namespace {
struct Pool {
  static const int WORKERS = 3;
  std::mutex lock;
  std::condition_variable wake, finished;
  const float *x = nullptr;
  float *y = nullptr;
  int n = 0, steps = 0, next = 0, left = 0;

  Pool() {
    for (int i = 0; i < WORKERS; ++i) std::thread([this] { serve(); }).detach();
  }

  void take(std::unique_lock<std::mutex> &held) {
    while (next < n) {
      const int first = next, last = next + 8 < n ? next + 8 : n;
      next = last;
      held.unlock();
      for (int i = first; i < last; ++i) {
        float value = 0.0f;
        for (int step = 0; step < steps; ++step) value -= 0.1f * (value * value * value - x[i]);
        y[i] = value;
      }
      held.lock();
      left -= last - first;
    }
    if (left == 0) finished.notify_all();
  }

  void serve() {
    std::unique_lock<std::mutex> held(lock);
    for (;;) {
      wake.wait(held, [this] { return next < n; });
      take(held);
    }
  }

  void run(const float *in, float *out, int count, int times) {
    std::unique_lock<std::mutex> held(lock);
    x = in, y = out, n = count, steps = times, next = 0, left = count;
    wake.notify_all();
    take(held);
    finished.wait(held, [this] { return left == 0; });
  }
};
}  // namespace

extern "C" void relax(const float *x, float *y, int n, int steps) {
  static Pool *pool = new Pool;
  pool->run(x, y, n, steps);
}
