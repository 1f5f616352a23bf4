// The opening auction of an exchange. Orders name a stock, a price in ticks (-1: at any price) and a quantity, negative
// for a sale. Each stock opens at the price at which most changes hands, then at the one that leaves the least over,
// then at the lowest; -1 where nothing does.
#include <algorithm>
#include <cstddef>
#include <vector>

struct Order {
    int stock, tick, quantity;
};

struct Opening {
    long long volume, over;
    long long tick;
};

static Opening open_stock(const long long* wanted, const long long* offered, int ticks) {
    std::vector<long long> above(ticks);  // wanted at this price or a higher one
    long long sum = 0;
    for (int t = ticks - 1; t >= 0; --t) {
        sum += wanted[t];
        above[t] = sum;
    }
    Opening best{0, 0, -1};
    long long below = 0;
    for (int t = 0; t < ticks; ++t) {
        below += offered[t];
        const long long volume = std::min(above[t], below), over = std::max(above[t], below) - volume;
        if (volume > best.volume || (volume == best.volume && volume > 0 && over < best.over)) {
            best = {volume, over, t};
        }
    }
    return best;
}

extern "C" void call_auction(const Order* orders, Opening* openings, int norders, int stocks, int ticks) {
    std::vector<long long> wanted((size_t)stocks * ticks), offered((size_t)stocks * ticks);
    for (int i = 0; i < norders; ++i) {
        const Order& o = orders[i];
        const size_t row = (size_t)o.stock * ticks;
        if (o.quantity > 0) {
            wanted[row + (o.tick < 0 ? ticks - 1 : o.tick)] += o.quantity;
        } else {
            offered[row + (o.tick < 0 ? 0 : o.tick)] -= o.quantity;
        }
    }
    for (int s = 0; s < stocks; ++s) {
        openings[s] = open_stock(&wanted[(size_t)s * ticks], &offered[(size_t)s * ticks], ticks);
    }
}
