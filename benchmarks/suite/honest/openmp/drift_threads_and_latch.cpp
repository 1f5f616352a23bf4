// problem: tests/adversarial/problem/drift
// style: helpers of each call copy, then change in place; a hand-made latch, detached threads
#include <omp.h>
#include <string.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

struct Particle {
  float x, v;
  int steps;
};

namespace {
class Latch {
 public:
  explicit Latch(int left) : left_(left) {}
  void count_down() {
    std::lock_guard<std::mutex> held(lock_);
    if (--left_ == 0) zero_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> held(lock_);
    zero_.wait(held, [this] { return left_ == 0; });
  }

 private:
  std::mutex lock_;
  std::condition_variable zero_;
  int left_;
};

void part(const Particle *p, Particle *q, float dt, int n) {
  memcpy(q, p, n * sizeof *q);
  for (int i = 0; i < n; ++i) q[i].x += dt * q[i].v;
  for (int i = 0; i < n; ++i) q[i].v *= 0.5f;
  for (int i = 0; i < n; ++i) q[i].steps += 1;
}
}  // namespace

extern "C" void drift(const Particle *p, Particle *q, float dt, int n) {
  int helpers = omp_get_max_threads() - 1;
  if (helpers > 7) helpers = 7;
  if (n < 2000 || helpers == 0) return part(p, q, dt, n);
  const auto latch = std::make_shared<Latch>(helpers);  // lives as long as its last user
  const int share = n / (helpers + 1);
  for (int h = 0; h < helpers; ++h)
    std::thread([=] {
      part(p + h * share, q + h * share, dt, share);
      latch->count_down();
    }).detach();
  part(p + helpers * share, q + helpers * share, dt, n - helpers * share);
  latch->wait();
}
