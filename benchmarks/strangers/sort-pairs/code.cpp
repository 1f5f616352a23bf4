#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

// Particles are sorted by the cell they are in, so that neighbours lie near in memory.

static uint32_t cell_of(float x, float y, float inv_h, uint32_t cells) {
    uint32_t cx = (uint32_t)(x * inv_h), cy = (uint32_t)(y * inv_h);
    return std::min(cx, cells - 1) + std::min(cy, cells - 1) * cells;
}

void sort_by_key(std::vector<uint32_t>& keys, std::vector<float>& values) {
    std::vector<size_t> order(keys.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(),
                     [&keys](size_t a, size_t b) { return keys[a] < keys[b]; });

    std::vector<uint32_t> k(keys.size());
    std::vector<float> v(values.size());
    for (size_t i = 0; i < order.size(); ++i) {
        k[i] = keys[order[i]];
        v[i] = values[order[i]];
    }
    std::copy(k.begin(), k.end(), keys.begin());
    std::copy(v.begin(), v.end(), values.begin());
}

bool is_sorted_by_cell(const std::vector<float>& x, const std::vector<float>& y, float inv_h) {
    for (size_t i = 1; i < x.size(); ++i)
        if (cell_of(x[i], y[i], inv_h, 16) < cell_of(x[i - 1], y[i - 1], inv_h, 16)) return false;
    return true;
}
