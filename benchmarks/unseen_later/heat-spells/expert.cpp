// Sums by vectors. Days become bits, 64 to a word; spells are counted by their first bits, and only words that can
// hold a longer run than the longest so far are looked at run by run.
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace {
// A bit per hot day; adds the degree days. Count is known for whole words, so that the loop is plain vectors.
inline uint64_t word_of(const float* __restrict t, int count, float base, float hot, double& total) {
    alignas(64) unsigned char flags[64] = {};
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int d = 0; d < count; ++d) {
        const double above = (double)t[d] - (double)base;
        sum += above > 0.0 ? above : 0.0;
    }
#pragma omp simd
    for (int d = 0; d < count; ++d) flags[d] = t[d] > hot;
    total += sum;
    uint64_t word = 0;
    for (int q = 0; q < 8; ++q) {  // the product gathers eight bytes of 0 or 1 to eight bits
        uint64_t bytes;
        __builtin_memcpy(&bytes, flags + 8 * q, 8);
        word |= (bytes * 0x0102040810204080ull >> 56) << 8 * q;
    }
    return word;
}
}  // namespace

extern "C" void heat_spells(const float* __restrict temperature, double* __restrict degree_days,
                            int* __restrict spells, int* __restrict longest, int* __restrict first_day, float base,
                            float hot, int stations, int days) {
#pragma omp parallel for schedule(static)
    for (int s = 0; s < stations; ++s) {
        const float* row = temperature + (size_t)s * days;
        double sum = 0;
        int count = 0, best = 0, begin = -1, run = 0;  // run: hot days just before the word
        for (int first = 0; first < days; first += 64) {
            const int here = std::min(64, days - first);
            const uint64_t word = here == 64 ? word_of(row + first, 64, base, hot, sum)
                                             : word_of(row + first, here, base, hot, sum);
            count += __builtin_popcountll(word & ~(word << 1 | (run > 0)));
            const int head = ~word ? __builtin_ctzll(~word) : 64;  // days that lengthen the run before
            if (head + run > best && head) {
                best = head + run;
                begin = first - run;
            }
            // days that begin best + 1 hot ones within the word
            uint64_t longer = word;
            for (int have = 1; longer && have <= best;) {
                const int more = std::min(have, best + 1 - have);
                longer = more < 64 ? longer & longer >> more : 0;
                have += more;
            }
            while (longer) {
                const int at = __builtin_ctzll(longer);
                const uint64_t rest = ~(word >> at);
                best = rest ? __builtin_ctzll(rest) : 64;
                begin = first + at;
                longer &= longer - 1;
                while (longer) {  // the next one that is longer still
                    const int next = __builtin_ctzll(longer);
                    const uint64_t after = ~(word >> next);
                    if ((after ? __builtin_ctzll(after) : 64) > best) break;
                    longer &= longer - 1;
                }
            }
            const int tail = here < 64 ? 0 : (~word ? __builtin_clzll(~word) : 64);
            run = tail == 64 ? run + 64 : tail;
        }
        degree_days[s] = sum;
        spells[s] = count;
        longest[s] = best;
        first_day[s] = begin;
    }
}
