// Keys of points on the globe for a spatial index: longitude and latitude in 32 steps of halving each, their bits
// in turn (longitude first), so that near points have near keys.
#include <cstdint>

template <typename Word>
struct Span {
    double low, high;

    Word place(double value) const {
        constexpr Word most = ~Word(0);
        const double share = (value - low) * ((most + 1.0) / (high - low));
        if (!(share > 0)) return 0;
        return share >= (double)most ? most : (Word)share;
    }
};

// Makes room for a second number's bits: bit i goes to bit 2 i.
template <typename Wide>
Wide spread(Wide bits) {
    constexpr int digits = 8 * sizeof(Wide);
    for (int shift = digits / 4; shift > 0; shift /= 2) {
        const Wide mask = ~Wide(0) / ((Wide(1) << shift) + 1);
        bits = (bits | bits << shift) & mask;
    }
    return bits;
}

extern "C" void morton_keys(const double* longitude, const double* latitude, unsigned long long* keys, int n) {
    const Span<uint32_t> east{-180.0, 180.0}, north{-90.0, 90.0};
    for (int i = 0; i < n; ++i) {
        const uint64_t x = spread<uint64_t>(east.place(longitude[i]));
        const uint64_t y = spread<uint64_t>(north.place(latitude[i]));
        keys[i] = x << 1 | y;
    }
}
