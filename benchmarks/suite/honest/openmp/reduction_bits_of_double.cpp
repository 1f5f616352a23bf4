// problem: corpus/problems/reduction
// style: std::threads of each call add to the output's bits by a 64-bit compare-exchange
#include <omp.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

extern "C" void reduction(const float* x, double* total, int n) {
  constexpr int BLOCK = 2048;
  uint64_t* bits = reinterpret_cast<uint64_t*>(total);
  __atomic_store_n(bits, 0, __ATOMIC_RELAXED);  // 0.0, before any thread starts
  std::atomic<int> next{0};
  const int blocks = n / BLOCK + (n % BLOCK != 0);
  auto work = [&] {
    double own[4] = {};
    for (int b; (b = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) {
      const float* at = x + static_cast<size_t>(b) * BLOCK;
      const int length = b + 1 < blocks ? BLOCK : n - b * BLOCK;
      int i = 0;
      for (; i + 4 <= length; i += 4)
        own[0] += at[i], own[1] += at[i + 1], own[2] += at[i + 2], own[3] += at[i + 3];
      for (; i < length; ++i) own[i & 3] += at[i];
    }
    const double sum = (own[0] + own[1]) + (own[2] + own[3]);
    uint64_t seen = __atomic_load_n(bits, __ATOMIC_RELAXED), wanted;
    do {
      double all;
      memcpy(&all, &seen, sizeof all);
      all += sum;
      memcpy(&wanted, &all, sizeof all);
    } while (!__atomic_compare_exchange_n(bits, &seen, wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  };
  std::vector<std::thread> helpers;
  const int others = n < 10000 ? 0 : omp_get_max_threads() - 1;
  for (int h = 0; h < others && h < 15; ++h) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
}
