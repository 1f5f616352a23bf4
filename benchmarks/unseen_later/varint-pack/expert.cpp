// Two passes: the length of each chunk by vectors, then every chunk at its place. A number is written as one word of
// eight bytes without a branch; a chunk's last ones go byte by byte, as the words would run into the next chunk.
#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {
constexpr int kChunk = 16384;

inline uint32_t zigzag(uint32_t difference) { return (difference << 1) ^ (0u - (difference >> 31)); }

inline uint32_t length_of(uint32_t z) {
    return 1u + (z >= 1u << 7) + (z >= 1u << 14) + (z >= 1u << 21) + (z >= 1u << 28);
}

uint32_t length_of_chunk(const int* __restrict values, int begin, int end) {
    uint32_t sum = begin ? 0 : length_of(zigzag((uint32_t)values[0]));
#pragma omp simd reduction(+ : sum)
    for (int i = std::max(begin, 1); i < end; ++i) {
        sum += length_of(zigzag((uint32_t)values[i] - (uint32_t)values[i - 1]));
    }
    return sum;
}

void write(const int* __restrict values, uint8_t* out, int begin, int end) {
    uint32_t last = begin ? (uint32_t)values[begin - 1] : 0;
    const int safe = std::max(begin, end - 8);
    for (int i = begin; i < safe; ++i) {
        const uint64_t z = zigzag((uint32_t)values[i] - last);
        last = (uint32_t)values[i];
        const int bits = 32 - __builtin_clz((uint32_t)z | 1), length = (bits * 9 + 64) >> 6;  // bits / 7, rounded up
#ifdef __BMI2__
        const uint64_t spread = _pdep_u64(z, 0x7f7f7f7f7full);
#else
        const uint64_t spread = (z & 0x7f) | (z & 0x3f80) << 1 | (z & 0x1fc000) << 2 | (z & 0xfe00000) << 3 |
                                (z & 0xf0000000) << 4;
#endif
        const uint64_t word = spread | (0x80808080ull & ((1ull << 8 * (length - 1)) - 1));
        std::memcpy(out, &word, 8);
        out += length;
    }
    for (int i = safe; i < end; ++i) {
        uint32_t z = zigzag((uint32_t)values[i] - last);
        last = (uint32_t)values[i];
        for (; z >= 0x80; z >>= 7) *out++ = (uint8_t)(z | 0x80);
        *out++ = (uint8_t)z;
    }
}
}  // namespace

extern "C" void varint_pack(const int* values, uint8_t* packed, int* bytes, int n) {
    const int chunks = (n + kChunk - 1) / kChunk;
    std::vector<uint32_t> start(chunks + 1);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int c = 0; c < chunks; ++c) {
            start[c + 1] = length_of_chunk(values, c * kChunk, std::min(n, (c + 1) * kChunk));
        }
#pragma omp single
        for (int c = 0; c < chunks; ++c) start[c + 1] += start[c];
#pragma omp for schedule(static)
        for (int c = 0; c < chunks; ++c) {
            write(values, packed + start[c], c * kChunk, std::min(n, (c + 1) * kChunk));
        }
    }
    *bytes = (int)start[chunks];
}
