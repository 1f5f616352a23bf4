// problem: tests/adversarial/problem/filter
// style: one pass: blocks by ticket, kept in a buffer of the thread, each waits for the end of the block before
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

extern "C" void filter(const int *x, int *kept, int *found, int n) {
  constexpr int BLOCK = 512;
  const int blocks = (n + BLOCK - 1) / BLOCK;
  std::unique_ptr<std::atomic<int>[]> ends(new std::atomic<int>[blocks + 1]);
  for (int b = 0; b <= blocks; ++b) ends[b].store(b ? -1 : 0, std::memory_order_relaxed);
  std::atomic<int> ticket{0};
#pragma omp parallel shared(ends, ticket)
  {
    int buffer[BLOCK];
    for (int b; (b = ticket.fetch_add(1)) < blocks;) {
      const int first = b * BLOCK, last = first + BLOCK < n ? first + BLOCK : n;
      int count = 0;
      for (int i = first; i < last; ++i) {
        buffer[count] = x[i];
        count += x[i] % 3 == 0;
      }
      int at;
      while ((at = ends[b].load(std::memory_order_acquire)) < 0) std::this_thread::yield();
      ends[b + 1].store(at + count, std::memory_order_release);
      memcpy(kept + at, buffer, count * sizeof(int));
    }
  }
  *found = ends[blocks].load();
}
