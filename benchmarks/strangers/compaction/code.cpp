#include <cstddef>
#include <vector>

struct Stats {
    long kept;
    long dropped;
};

template <typename T>
static bool in_range(T v, T lo, T hi)
{
    return v >= lo && v < hi;
}

// Copies the values inside [lo, hi) to the front of out, in order, and returns how many there are.
// Elements of out behind them are set to zero.
size_t compact(const float* values, float* out, size_t n, float lo, float hi)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (in_range(values[i], lo, hi))
            out[kept++] = values[i];
    }
    for (size_t i = kept; i < n; i++) out[i] = 0.0f;
    return kept;
}
