#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int BINS = 128;

struct Range {
    float lo, hi;
    float width() const { return (hi - lo) / BINS; }
};

/// Counts of values in equal bins of [lo, hi); what lies outside goes to the first or last bin.
std::array<int, BINS> histogram(const std::vector<float>& data, float lo, float hi) {
    std::array<int, BINS> bins;
    bins.fill(0);
    const float scale = BINS / (hi - lo);
    for (const float value : data) {
        int bin = static_cast<int>(std::floor((value - lo) * scale));
        bin = std::max(0, std::min(bin, BINS - 1));
        ++bins[bin];
    }
    return bins;
}

void draw(const std::array<int, BINS>& bins) {
    const int most = *std::max_element(bins.begin(), bins.end());
    for (int b = 0; b < BINS; ++b) std::printf("%3d %d\n", b, most ? bins[b] * 60 / most : 0);
}
