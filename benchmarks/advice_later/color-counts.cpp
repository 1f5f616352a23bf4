// first openmp: array-reduction thread-private-copies parallel-for reduction-clause atomic-updates
// first cuda: thread-per-element shared-memory-privatization atomic-aggregation replicated-counters
#include <array>
#include <cstdint>
#include <vector>
std::array<unsigned, 768> color_counts(const std::vector<std::uint8_t>& rgb) {
    std::array<unsigned, 768> counts{};
    for (std::size_t p = 0; p + 2 < rgb.size(); p += 3)
        for (int channel = 0; channel < 3; ++channel) ++counts[256 * channel + rgb[p + channel]];
    return counts;
}
