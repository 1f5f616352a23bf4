#include <cstdint>
#include <cstring>
#include <vector>

#define ROTL32(x, r) (((x) << (r)) | ((x) >> (32 - (r))))

static inline std::uint32_t fmix32(std::uint32_t h) {
    h ^= h >> 16;
    h *= 0x85ebca6b;
    h ^= h >> 13;
    h *= 0xc2b2ae35;
    h ^= h >> 16;
    return h;
}

// String i is chars[offsets[i]] .. chars[offsets[i + 1] - 1].
std::vector<std::uint32_t> hashStrings(const std::vector<char>& chars, const std::vector<int>& offsets,
                                       std::uint32_t seed) {
    std::vector<std::uint32_t> hashes;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        const char* data = chars.data() + offsets[i];
        const int len = offsets[i + 1] - offsets[i];
        const int blocks = len / 4;
        std::uint32_t h = seed;
        for (int b = 0; b < blocks; ++b) {
            std::uint32_t k;
            std::memcpy(&k, data + 4 * b, sizeof k);
            k *= 0xcc9e2d51;
            k = ROTL32(k, 15);
            k *= 0x1b873593;
            h ^= k;
            h = ROTL32(h, 13);
            h = h * 5 + 0xe6546b64;
        }
        const unsigned char* tail = reinterpret_cast<const unsigned char*>(data + 4 * blocks);
        std::uint32_t k = 0;
        switch (len & 3) {
            case 3:
                k ^= tail[2] << 16;
                [[fallthrough]];
            case 2:
                k ^= tail[1] << 8;
                [[fallthrough]];
            case 1:
                k ^= tail[0];
                k *= 0xcc9e2d51;
                k = ROTL32(k, 15);
                k *= 0x1b873593;
                h ^= k;
        }
        hashes.push_back(fmix32(h ^ static_cast<std::uint32_t>(len)));
    }
    return hashes;
}
