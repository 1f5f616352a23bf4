// problem: corpus/problems/histogram
// style: sixteen counting tasks and a binary tree of merging tasks, ordered by depend, in a taskgroup
#include <cstring>
#include <vector>

namespace {
constexpr int SLOTS = 16;
struct alignas(64) Slot {
  int bin[256];
};
}  // namespace

extern "C" void histogram(const unsigned char* keys, int* hist, int n) {
  std::vector<Slot> room(SLOTS);
  Slot* slots = room.data();
#pragma omp parallel shared(slots, keys, hist, n)
#pragma omp single
  {
#pragma omp taskgroup
    {
      for (int t = 0; t < SLOTS; ++t)
#pragma omp task depend(out : slots[t]) firstprivate(t, slots)
      {
        const int first = int(1LL * n * t / SLOTS), last = int(1LL * n * (t + 1) / SLOTS);
        int* bin = slots[t].bin;
        memset(bin, 0, sizeof slots[t].bin);
        for (int i = first; i < last; ++i) ++bin[keys[i]];
      }
      for (int stride = 1; stride < SLOTS; stride *= 2)
        for (int t = 0; t + stride < SLOTS; t += 2 * stride)
#pragma omp task depend(inout : slots[t]) depend(in : slots[t + stride]) firstprivate(t, stride, slots)
          for (int b = 0; b < 256; ++b) slots[t].bin[b] += slots[t + stride].bin[b];
    }
    memcpy(hist, slots[0].bin, sizeof slots[0].bin);
  }
}
