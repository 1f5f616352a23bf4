// Width of the envelope of each channel: largest minus smallest sample within `reach` of each, fewer at the ends.
#include <algorithm>
#include <cstddef>
#include <vector>

static std::vector<float> widths(const std::vector<float>& channel, int reach) {
    const int n = (int)channel.size();
    std::vector<float> width(n);
    for (int i = 0; i < n; ++i) {
        float highest = channel[i], lowest = channel[i];
        for (int j = std::max(0, i - reach); j < std::min(n, i + reach + 1); ++j) {
            highest = std::max(highest, channel[j]);
            lowest = std::min(lowest, channel[j]);
        }
        width[i] = highest - lowest;
    }
    return width;
}

extern "C" void envelope_width(const float* samples, float* width, int reach, int channels, int length) {
    for (int c = 0; c < channels; ++c) {
        const float* first = samples + (size_t)c * length;
        const std::vector<float> channel(first, first + length);
        const std::vector<float> found = widths(channel, reach);
        std::copy(found.begin(), found.end(), width + (size_t)c * length);
    }
}
