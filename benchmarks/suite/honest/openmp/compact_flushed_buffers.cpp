// problem: tests/adversarial/problem/compact
// style: rows gathered in small buffers of each thread, room reserved by a relaxed fetch_add for each flush
#include <math.h>

#include <atomic>
#include <cstring>

namespace {
struct Buffer {
  static constexpr int ROOM = 48;
  float root[ROOM];
  int place[ROOM];
  int used = 0;

  void flush(std::atomic<int> &count, float *roots, int *places) {
    const int at = count.fetch_add(used, std::memory_order_relaxed);
    memcpy(roots + at, root, used * sizeof(float));
    memcpy(places + at, place, used * sizeof(int));
    used = 0;
  }
};
}  // namespace

extern "C" int compact(const float *x, float *root, int *place, int n) {
  std::atomic<int> count{0};
#pragma omp parallel shared(count)
  {
    Buffer mine;
#pragma omp for schedule(dynamic, 100) nowait
    for (int i = 0; i < n; ++i) {
      if (!(x[i] > 0.5f)) continue;
      mine.root[mine.used] = sqrtf(x[i]);
      mine.place[mine.used] = i;
      if (++mine.used == Buffer::ROOM) mine.flush(count, root, place);
    }
    if (mine.used) mine.flush(count, root, place);
  }
  return count.load(std::memory_order_relaxed);
}
