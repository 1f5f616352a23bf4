// problem: corpus/problems/prefix-sum
// style: one region without barriers: tiles by ticket look back at what earlier ones published (acquire, release)
#include <atomic>
#include <thread>
#include <vector>

namespace {
constexpr long long TILE = 4096;
enum : int { NOTHING, SUM, UPTO };

struct alignas(64) Tile {
  std::atomic<int> known{NOTHING};
  unsigned long long sum = 0, upto = 0;  // of this tile; of all up to its end
};

unsigned long long before(std::vector<Tile>& tiles, long long tile) {
  unsigned long long all = 0;
  for (long long t = tile - 1; t >= 0; --t) {
    int known;
    while ((known = tiles[t].known.load(std::memory_order_acquire)) == NOTHING)
      std::this_thread::yield();
    if (known == UPTO) return all + tiles[t].upto;
    all += tiles[t].sum;
  }
  return all;
}
}  // namespace

extern "C" void prefix_sum(const unsigned long long* in, unsigned long long* out, long long n) {
  const long long count = (n + TILE - 1) / TILE;
  std::vector<Tile> tiles(count);
  std::atomic<long long> ticket{0};
#pragma omp parallel shared(tiles, ticket)
  for (long long t; (t = ticket.fetch_add(1, std::memory_order_relaxed)) < count;) {
    const long long first = t * TILE, last = first + TILE < n ? first + TILE : n;
    unsigned long long sum = 0;
    for (long long i = first; i < last; ++i) sum += in[i];
    tiles[t].sum = sum;
    tiles[t].known.store(SUM, std::memory_order_release);
    unsigned long long running = before(tiles, t);
    tiles[t].upto = running + sum;
    tiles[t].known.store(UPTO, std::memory_order_release);
    for (long long i = first; i < last; ++i) out[i] = running += in[i];
  }
}
