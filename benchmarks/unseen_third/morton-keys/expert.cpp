// Both numbers lie in one word before their bits are spread, so the five steps are done once, on vectors; the keys
// go past the caches.
#include <cstddef>
#include <cstdint>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace {
// The bits of two 32-bit numbers in turn: swaps of pieces within a word, large ones first.
inline uint64_t mixed(uint64_t high, uint64_t low) {
    uint64_t v = high << 32 | low, t;
    t = (v ^ v >> 16) & 0x00000000ffff0000u;
    v ^= t ^ t << 16;
    t = (v ^ v >> 8) & 0x0000ff000000ff00u;
    v ^= t ^ t << 8;
    t = (v ^ v >> 4) & 0x00f000f000f000f0u;
    v ^= t ^ t << 4;
    t = (v ^ v >> 2) & 0x0c0c0c0c0c0c0c0cu;
    v ^= t ^ t << 2;
    t = (v ^ v >> 1) & 0x2222222222222222u;
    return v ^ t ^ t << 1;
}

inline uint64_t place(double value, double low, double scale) {
    double share = (value - low) * scale;
    share = share > 0.0 ? share : 0.0;
    share = share < 4294967295.0 ? share : 4294967295.0;
    return (uint64_t)(int64_t)share;
}
}  // namespace

extern "C" void morton_keys(const double* __restrict longitude, const double* __restrict latitude,
                            unsigned long long* __restrict keys, int n) {
    constexpr int block = 512;
    const double per_east = 4294967296.0 / 360.0, per_north = 4294967296.0 / 180.0;
#pragma omp parallel for schedule(static)
    for (int first = 0; first < n; first += block) {
        const int here = n - first < block ? n - first : block;
        alignas(64) unsigned long long made[block];
#pragma omp simd
        for (int i = 0; i < here; ++i) {
            made[i] = mixed(place(longitude[first + i], -180.0, per_east),
                            place(latitude[first + i], -90.0, per_north));
        }
        unsigned long long* to = keys + first;
        int i = 0;
#ifdef __AVX512F__
        if ((uintptr_t)to % 64 == 0) {
            for (; i + 8 <= here; i += 8) _mm512_stream_si512((__m512i*)(to + i), _mm512_load_si512(made + i));
        }
#endif
        for (; i < here; ++i) to[i] = made[i];
    }
}
