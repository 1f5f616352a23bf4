// Running totals of an asset's prices stay in the L1; both averages are differences of two totals, which is vector
// code. Totals begin anew every kBlock days, so that they do not grow; four assets add side by side.
#include <algorithm>
#include <cstddef>
#include <vector>

namespace {
constexpr int kBlock = 1024, kAssets = 4;

// Totals before day `from`, `from` + 1, .. up to `to`, of `Count` assets.
template <int Count>
void add_up(const double* price, int days, int from, int to, double* totals, int stride) {
    double sum[Count] = {};
    for (int d = from; d < to; ++d) {
        for (int a = 0; a < Count; ++a) {
            totals[a * stride + d - from] = sum[a];
            sum[a] += price[(size_t)a * days + d];
        }
    }
    for (int a = 0; a < Count; ++a) totals[a * stride + to - from] = sum[a];
}

template <int Count>
void gaps(const double* price, double* gap, int fast, int slow, int days, double* totals) {
    const int stride = kBlock + slow;
    const double per_fast = 1.0 / fast, per_slow = 1.0 / slow;
    const int head = std::min(slow - 1, days);
    for (int a = 0; a < Count; ++a) std::fill_n(gap + (size_t)a * days, head, 0.0);
    for (int first = head; first < days; first += kBlock) {
        const int last = std::min(first + kBlock, days), from = first - head;
        add_up<Count>(price, days, from, last, totals, stride);
        for (int a = 0; a < Count; ++a) {
            const double* end = totals + a * stride + slow;
            double* __restrict out = gap + (size_t)a * days + first;
#pragma omp simd
            for (int d = 0; d < last - first; ++d) {
                out[d] = (end[d] - end[d - fast]) * per_fast - (end[d] - end[d - slow]) * per_slow;
            }
        }
    }
}
}  // namespace

extern "C" void trend_gap(const double* __restrict price, double* __restrict gap, int fast, int slow, int assets,
                          int days) {
#pragma omp parallel if ((long long)assets * days > 20000)
    {
        std::vector<double> totals((size_t)kAssets * (kBlock + slow));
#pragma omp for schedule(static)
        for (int a = 0; a < assets; a += kAssets) {
            const double* from = price + (size_t)a * days;
            double* to = gap + (size_t)a * days;
            if (a + kAssets <= assets) {
                gaps<kAssets>(from, to, fast, slow, days, totals.data());
            } else {
                for (int left = a; left < assets; ++left, from += days, to += days) {
                    gaps<1>(from, to, fast, slow, days, totals.data());
                }
            }
        }
    }
}
