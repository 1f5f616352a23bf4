// STA/LTA detector of a seismic channel in whole counts: a sample triggers where the mean size of the last
// `brief` samples is at least `ratio` tenths of the mean size of the `long_` samples before those.
#include <cstdint>
#include <cstdlib>

static int64_t size_of(const int16_t* trace, int from, int length) {
    int64_t sum = 0;
    for (int k = 0; k < length; ++k) sum += std::abs(trace[from + k]);
    return sum;
}

extern "C" void quake_triggers(const int16_t* trace, uint8_t* trigger, int brief, int long_, int ratio, int n) {
    for (int i = 0; i < n; ++i) {
        trigger[i] = 0;
        const int start = i - brief + 1;
        if (start - long_ < 0) continue;
        const int64_t sta = size_of(trace, start, brief);
        const int64_t lta = size_of(trace, start - long_, long_);
        if (lta > 0 && 10 * sta * long_ >= ratio * lta * brief) trigger[i] = 1;
    }
}
