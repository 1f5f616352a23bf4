// problem: tests/adversarial/problem/norm
// style: a hand-made barrier of two atomics that spins and yields, under a tree of partial sums
#include <omp.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {
class Barrier {
 public:
  explicit Barrier(int team) : team_(team) {}
  void wait() {
    const unsigned phase = phase_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == team_) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.fetch_add(1, std::memory_order_release);
    } else {
      while (phase_.load(std::memory_order_acquire) == phase) std::this_thread::yield();
    }
  }

 private:
  const int team_;
  std::atomic<int> arrived_{0};
  std::atomic<unsigned> phase_{0};
};

struct alignas(64) Part {
  double sum = 0;
};
}  // namespace

extern "C" double norm(const float *x, int n) {
  std::vector<Part> parts(omp_get_max_threads());
  Barrier *barrier = nullptr;
#pragma omp parallel shared(parts, barrier)
  {
    const int me = omp_get_thread_num(), team = omp_get_num_threads();
#pragma omp single
    barrier = new Barrier(team);
    double even = 0, odd = 0;
    const int first = int(1LL * n * me / team), last = int(1LL * n * (me + 1) / team);
    int i = first;
    for (; i + 2 <= last; i += 2) {
      even += double(x[i]) * x[i];
      odd += double(x[i + 1]) * x[i + 1];
    }
    if (i < last) even += double(x[i]) * x[i];
    parts[me].sum = even + odd;
    for (int reach = 1; reach < team; reach *= 2) {
      barrier->wait();
      if (me % (2 * reach) == 0 && me + reach < team) parts[me].sum += parts[me + reach].sum;
    }
  }
  delete barrier;
  return parts[0].sum;
}
