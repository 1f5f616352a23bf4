// A pool of 64 threads of its own that sleep between calls.
#include <condition_variable>
#include <mutex>
#include <thread>

namespace {
std::mutex lock;
std::condition_variable changed;
int round_, left;
const float *from;
float *to;
int length, found;

void work(int rank) {
  for (int seen = 0;;) {
    std::unique_lock<std::mutex> held(lock);
    changed.wait(held, [&] { return round_ != seen; });
    seen = round_;
    held.unlock();
    int count = 0;
    for (int i = rank; i < length; i += 64) {
      const bool inner = i > 0 && i < length - 1;
      to[i] = inner ? 0.25f * from[i - 1] + 0.5f * from[i] + 0.25f * from[i + 1] : 0.0f;
      count += from[i] > 0.0f;
    }
    held.lock();
    found += count;
    if (--left == 0) changed.notify_all();
  }
}
}  // namespace

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static bool made = false;
  for (int rank = 0; rank < 64 && !made; ++rank) std::thread(work, rank).detach();
  made = true;
  std::unique_lock<std::mutex> held(lock);
  from = x, to = y, length = n, found = 0, left = 64, ++round_;
  changed.notify_all();
  changed.wait(held, [] { return left == 0; });
  *positive = found;
}
