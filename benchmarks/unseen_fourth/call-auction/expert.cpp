// Each thread counts its share of the orders into a table of its own, without branches on the side; the auction of a
// stock then adds up its rows of all tables.
#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

struct Order {
    int stock, tick, quantity;
};

struct Opening {
    long long volume, over;
    long long tick;
};

extern "C" void call_auction(const Order* __restrict orders, Opening* __restrict openings, int norders, int stocks,
                             int ticks) {
    const int threads = std::min(omp_get_max_threads(), 1 + norders / 4096);
    const size_t row = (size_t)2 * ticks, cells = stocks * row;
    std::unique_ptr<long long[]> tables(new long long[threads * cells]);
#pragma omp parallel num_threads(threads)
    {
        const int team = omp_get_num_threads();
        long long* mine = tables.get() + omp_get_thread_num() * cells;
        std::fill(mine, mine + cells, 0);
#pragma omp for schedule(static)
        for (int i = 0; i < norders; ++i) {  // wanted first, then offered, per stock
            const Order o = orders[i];
            const int sells = o.quantity <= 0, any = (ticks - 1) & (sells - 1);
            const int tick = (o.tick & ~(o.tick >> 31)) | (any & (o.tick >> 31));
            const long long quantity = o.quantity;
            mine[o.stock * row + (ticks & -sells) + tick] += (quantity ^ -(long long)sells) + sells;
        }
        std::vector<long long> wanted(row);
        long long* offered = wanted.data() + ticks;
#pragma omp for schedule(static)
        for (int s = 0; s < stocks; ++s) {
            std::fill(wanted.begin(), wanted.end(), 0);
            for (int t = 0; t < team; ++t) {
                const long long* part = tables.get() + t * cells + s * row;
                for (size_t i = 0; i < row; ++i) wanted[i] += part[i];
            }
            for (int t = ticks - 2; t >= 0; --t) wanted[t] += wanted[t + 1];
            Opening best{0, 0, -1};
            long long below = 0;
            for (int t = 0; t < ticks; ++t) {
                below += offered[t];
                const long long volume = std::min(wanted[t], below), over = std::max(wanted[t], below) - volume;
                if (volume > best.volume || (volume == best.volume && volume > 0 && over < best.over)) {
                    best = {volume, over, t};
                }
            }
            openings[s] = best;
        }
    }
}
