#include <algorithm>

// out[i] = the largest less the smallest of the last w values up to x[i].
extern "C" void window_range(const float* x, float* out, int n, int w) {
    for (int i = 0; i < n; ++i) {
        float low = x[i], high = x[i];
        for (int j = std::max(0, i - w + 1); j <= i; ++j) {
            low = std::min(low, x[j]);
            high = std::max(high, x[j]);
        }
        out[i] = high - low;
    }
}
