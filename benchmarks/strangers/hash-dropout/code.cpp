#include <algorithm>
#include <cstdint>
#include <vector>

template <int Shift, std::uint32_t Factor>
inline std::uint32_t mix(std::uint32_t h) {
    h ^= h >> Shift;
    return h * Factor;
}

inline std::uint32_t hash_at(std::uint32_t position, std::uint32_t seed) {
    auto h = position * 0x9E3779B9u + seed;
    h = mix<16, 0x85EBCA6Bu>(h);
    h = mix<13, 0xC2B2AE35u>(h);
    return h ^ (h >> 16);
}

// Zeroes a part p of the values and scales the others; the mask says which stayed.
void apply_dropout(std::vector<float>& values, std::vector<std::uint8_t>& mask, float p, std::uint32_t seed) {
    mask.assign(values.size(), 0);
    const float scale = p < 1.0f ? 1.0f / (1.0f - p) : 0.0f;
    const auto threshold = static_cast<std::uint32_t>(p * 4294967040.0f);
    auto keep = mask.begin();
    std::uint32_t position = 0;
    for (auto it = values.begin(); it != values.end(); ++it, ++keep, ++position) {
        if (hash_at(position, seed) >= threshold) {
            *keep = 1;
            *it *= scale;
        } else {
            *it = 0.0f;
        }
    }
}
