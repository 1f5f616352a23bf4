// style: a helper thread kept between calls that looks for work without ever sleeping
// problem: relax
#include <atomic>
#include <thread>

namespace {
std::atomic<unsigned> asked{0}, answered{0};
const float *from;
float *to;
int first, last, times;

void part(const float *x, float *y, int begin, int end, int steps) {
  for (int i = begin; i < end; ++i) {
    float value = 0.0f;
    for (int step = 0; step < steps; ++step) value -= 0.1f * (value * value * value - x[i]);
    y[i] = value;
  }
}

void help() {
  for (unsigned seen = 0;; ++seen) {
    while (asked.load(std::memory_order_acquire) == seen) std::this_thread::yield();
    part(from, to, first, last, times);
    answered.store(seen + 1, std::memory_order_release);
  }
}
}  // namespace

extern "C" void relax(const float *x, float *y, int n, int steps) {
  static const bool started = (std::thread(help).detach(), true);
  (void)started;
  from = x, to = y, first = n / 2, last = n, times = steps;
  const unsigned ticket = asked.fetch_add(1, std::memory_order_release) + 1;
  part(x, y, 0, n / 2, steps);
  while (answered.load(std::memory_order_acquire) != ticket) std::this_thread::yield();
}
