// problem: tests/adversarial/problem/total
// style: each thread adds its part to the output itself, in the order of ranks, by a turn handed on
#include <omp.h>

#include <atomic>
#include <thread>

extern "C" void total(const float *x, float *sum, int n) {
  std::atomic<int> turn{0};
#pragma omp parallel shared(turn)
  {
    const int me = omp_get_thread_num(), team = omp_get_num_threads();
    const int first = int(1LL * n * me / team), last = int(1LL * n * (me + 1) / team);
    float own = 0.0f;
#pragma omp simd reduction(+ : own)
    for (int i = first; i < last; ++i) own += x[i];
    while (turn.load(std::memory_order_acquire) != me) std::this_thread::yield();
    if (me == 0)
      *sum = own;
    else
      *sum += own;  // theirs before: seen by the acquire
    turn.store(me + 1, std::memory_order_release);
  }
}
