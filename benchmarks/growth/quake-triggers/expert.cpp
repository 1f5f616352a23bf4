// Running totals of the sizes, in whole numbers, so nothing is lost: one chain of additions of one cycle each. Both
// means are differences of totals, so the comparison is vector code. Totals begin anew with each chunk, which lies in
// the L1 and L2 with its past.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {
constexpr int kChunk = 4096;

void chunk(const int16_t* trace, uint8_t* __restrict trigger, int brief, int long_, int ratio, int first, int last,
           int64_t* __restrict totals) {
    const int past = brief + long_, from = first + 1 - past;
    int64_t sum = 0;
    totals[0] = 0;
    for (int j = from; j < last; ++j) totals[j - from + 1] = sum += std::abs(trace[j]);
    const int64_t *end = totals + past, *middle = end - brief, *begin = middle - long_;
    const int64_t sta_by = 10LL * long_, lta_by = (int64_t)ratio * brief;
#pragma omp simd
    for (int k = 0; k < last - first; ++k) {
        const int64_t sta = end[k] - middle[k], lta = middle[k] - begin[k];
        trigger[first + k] = (lta > 0) & (sta * sta_by >= lta * lta_by);
    }
}
}  // namespace

extern "C" void quake_triggers(const int16_t* __restrict trace, uint8_t* __restrict trigger, int brief, int long_,
                               int ratio, int n) {
    const int head = (int)std::min<int64_t>(n, (int64_t)brief + long_ - 1);
    std::fill_n(trigger, head, (uint8_t)0);
#pragma omp parallel if (n > 4 * kChunk)
    {
        std::vector<int64_t> totals((size_t)kChunk + brief + long_);
#pragma omp for schedule(static)
        for (int first = head; first < n; first += kChunk) {
            chunk(trace, trigger, brief, long_, ratio, first, std::min(first + kChunk, n), totals.data());
        }
    }
}
