// Windows by doubling: the extremes of 2, 4, 8, .. samples from those of half as many, then a window of any width
// from two that overlap. That is log(window) passes of vector code over a block in the L1, with no branch and no
// queue. Beyond the ends of a channel the block holds infinities.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace {
constexpr int kBlock = 1024;
constexpr float kInfinite = std::numeric_limits<float>::infinity();

void block(const float* channel, float* __restrict width, int reach, int length, int first, int last, float* high,
           float* low) {
    const int window = 2 * reach + 1, held = last - first + window - 1;
    const int from = std::max(0, first - reach), to = std::min(length, last + reach);
    const int ahead = from - (first - reach);
    std::fill(high, high + held, -kInfinite);
    std::fill(low, low + held, kInfinite);
    std::copy(channel + from, channel + to, high + ahead);
    std::copy(channel + from, channel + to, low + ahead);
    int wide = 1;
    for (; 2 * wide <= window; wide *= 2) {
#pragma omp simd
        for (int k = 0; k < held - wide; ++k) {
            high[k] = std::max(high[k], high[k + wide]);
            low[k] = std::min(low[k], low[k + wide]);
        }
    }
    const int rest = window - wide;
#pragma omp simd
    for (int k = 0; k < last - first; ++k) {
        width[first + k] = std::max(high[k], high[k + rest]) - std::min(low[k], low[k + rest]);
    }
}
}  // namespace

extern "C" void envelope_width(const float* __restrict samples, float* __restrict width, int reach, int channels,
                               int length) {
    const int blocks = (length + kBlock - 1) / kBlock;
#pragma omp parallel if ((long long)channels * length > 10000)
    {
        std::vector<float> high(kBlock + 2 * (size_t)reach), low(kBlock + 2 * (size_t)reach);
#pragma omp for collapse(2) schedule(static)
        for (int c = 0; c < channels; ++c) {
            for (int b = 0; b < blocks; ++b) {
                const int first = b * kBlock, last = std::min(first + kBlock, length);
                block(samples + (size_t)c * length, width + (size_t)c * length, reach, length, first, last,
                      high.data(), low.data());
            }
        }
    }
}
