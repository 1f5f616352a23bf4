// Plucked strings after Karplus and Strong: a burst of noise goes round in a delay line of one period and is smoothed
// each time. All voices sound at once and are added up.
#include <algorithm>
#include <cstddef>
#include <vector>

extern "C" void string_voices(const float* pluck, const int* period, const float* decay, const float* gain,
                              double* mix, int voices, int longest, int samples) {
    std::fill(mix, mix + samples, 0.0);
    std::vector<float> line(longest);

    const auto for_each_sample = [&](auto&& voice) {
        for (int s = 0; s < samples; ++s) mix[s] += voice();
    };

    for (int v = 0; v < voices; ++v) {
        const int n = period[v];
        std::copy(pluck + (size_t)v * longest, pluck + (size_t)v * longest + n, line.begin());
        int at = 0;
        for_each_sample([&, half = 0.5f * decay[v], loud = gain[v]]() {
            const int next = at + 1 == n ? 0 : at + 1;
            const float now = line[at];
            line[at] = half * (now + line[next]);
            at = next;
            return loud * now;
        });
    }
}
