// Both counts slide in one 64-bit number, known above, strong below, with a table for what a base adds. The division
// waits for a second loop over the chunk, where it is vector code in double precision, exact for numbers of 31 bits.
#include <algorithm>
#include <cstdint>

namespace {
constexpr int kChunk = 2048;
constexpr int64_t kKnown = 1LL << 32;
constexpr int64_t kAdds[5] = {kKnown, kKnown + 1, kKnown + 1, kKnown, 0};

void chunk(const unsigned char* genome, int* __restrict percent, int reach, int n, int first, int last) {
    int known[kChunk], strong[kChunk];
    int64_t count = 0;
    for (int j = std::max(0, first - reach); j < std::min(n, first + reach); ++j) count += kAdds[genome[j]];
    const auto note = [&](int i) {
        known[i - first] = (int)(count >> 32);
        strong[i - first] = (int)count;
    };
    int i = first;
    for (; i < last && i < reach; ++i) {  // the window still grows on the left
        if (i + reach < n) count += kAdds[genome[i + reach]];
        note(i);
    }
    for (const int inner = std::min(last, n - reach); i < inner; ++i) {
        count += kAdds[genome[i + reach]];
        note(i);
        count -= kAdds[genome[i - reach]];
    }
    for (; i < last; ++i) {  // no base enters any more
        note(i);
        count -= kAdds[genome[i - reach]];
    }
#pragma omp simd
    for (int k = 0; k < last - first; ++k) {
        const double share = 100.0 * strong[k] / (known[k] > 0 ? known[k] : 1);
        percent[first + k] = known[k] > 0 ? (int)share : -1;
    }
}
}  // namespace

extern "C" void gc_percent(const unsigned char* __restrict genome, int* __restrict percent, int reach, int n) {
#pragma omp parallel for schedule(static) if (n > 4 * kChunk)
    for (int first = 0; first < n; first += kChunk) {
        chunk(genome, percent, reach, n, first, std::min(first + kChunk, n));
    }
}
