// Two passes over chunks. The first counts quotes and, for both states at the chunk's begin, the line ends; a
// short serial scan then says each chunk's state and its first record. The second writes. Both work on words of
// 64 bytes as bit masks: a prefix XOR of the quotes' mask says which bytes are quoted.
#include <algorithm>
#include <cstdint>
#include <vector>
#include <omp.h>

namespace {
struct Masks {
    uint64_t quotes = 0, commas = 0, lines = 0;
};

uint64_t mask_of(const unsigned char* text, unsigned char byte) {
    uint64_t mask = 0;
    for (int k = 0; k < 8; ++k) {  // eight bytes: compare, then gather the bits
        uint64_t word;
        __builtin_memcpy(&word, text + 8 * k, 8);
        const uint64_t other = word ^ (0x0101010101010101u * byte);
        const uint64_t zero = ~(((other & 0x7f7f7f7f7f7f7f7fu) + 0x7f7f7f7f7f7f7f7fu) | other | 0x7f7f7f7f7f7f7f7fu);
        mask |= ((zero >> 7) * 0x0102040810204080u >> 56) << 8 * k;
    }
    return mask;
}

Masks masks_of(const unsigned char* text, int count) {
    unsigned char padded[64] = {};
    if (count < 64) {
        std::copy_n(text, count, padded);
        text = padded;
    }
    return {mask_of(text, '"'), mask_of(text, ','), mask_of(text, '\n')};
}

// Bit i: whether an odd number of quotes lies at or before byte i.
uint64_t prefix_xor(uint64_t bits) {
    for (int d = 1; d < 64; d *= 2) bits ^= bits << d;
    return bits;
}

struct Chunk {
    bool odd = false;           // its number of quotes
    int lines[2] = {0, 0};      // that end records, if it begins unquoted, and if quoted
    int open[2] = {0, 0};       // commas after the last such line, or of all
    int first = 0;              // records before
    int fields = 0;             // commas of the open record before
    bool quoted = false;
};
}  // namespace

extern "C" void csv_records(const unsigned char* text, int* start, int* fields, int* records, int length) {
    if (length == 0) {
        *records = 0;
        return;
    }
    const int most = std::min(omp_get_max_threads() * 4, length / 65536 + 1);
    const int size = (length / most + 64) / 64 * 64, count = (length + size - 1) / size;
    std::vector<Chunk> chunks(count);
    start[0] = 0;
#pragma omp parallel for schedule(dynamic)
    for (int c = 0; c < count; ++c) {
        Chunk chunk;
        uint64_t quoted = 0;
        const int end = (int)std::min<int64_t>(length, (int64_t)(c + 1) * size);
        for (int at = c * size; at < end; at += 64) {
            const Masks m = masks_of(text + at, std::min(64, end - at));
            const uint64_t inside = prefix_xor(m.quotes) ^ quoted;
            quoted = 0 - (inside >> 63);
            for (int state = 0; state < 2; ++state) {
                const uint64_t outside = state ? inside : ~inside;
                const uint64_t lines = m.lines & outside, commas = m.commas & outside;
                if (lines) {
                    chunk.lines[state] += __builtin_popcountll(lines);
                    const int last = 63 - __builtin_clzll(lines);
                    chunk.open[state] = last == 63 ? 0 : __builtin_popcountll(commas >> (last + 1));
                } else {
                    chunk.open[state] += __builtin_popcountll(commas);
                }
            }
        }
        chunk.odd = quoted != 0;
        chunks[c] = chunk;
    }
    int found = 0, open = 0;
    bool quoted = false;
    for (Chunk& chunk : chunks) {
        chunk.first = found;
        chunk.fields = open;
        chunk.quoted = quoted;
        found += chunk.lines[quoted];
        open = chunk.lines[quoted] > 0 ? chunk.open[quoted] : open + chunk.open[quoted];
        quoted ^= chunk.odd;
    }
#pragma omp parallel for schedule(dynamic)
    for (int c = 0; c < count; ++c) {
        int record = chunks[c].first, commas_before = chunks[c].fields;
        uint64_t inside_before = 0 - (uint64_t)chunks[c].quoted;
        const int end = (int)std::min<int64_t>(length, (int64_t)(c + 1) * size);
        for (int at = c * size; at < end; at += 64) {
            const Masks m = masks_of(text + at, std::min(64, end - at));
            const uint64_t inside = prefix_xor(m.quotes) ^ inside_before;
            inside_before = 0 - (inside >> 63);
            uint64_t lines = m.lines & ~inside, commas = m.commas & ~inside;
            while (lines) {
                const uint64_t below = lines ^ (lines - 1);  // up to and with the lowest line end
                const int place = at + __builtin_ctzll(lines);
                fields[record] = 1 + commas_before + __builtin_popcountll(commas & below);
                commas_before = 0;
                commas &= ~below;
                lines &= lines - 1;
                ++record;
                if (place + 1 < length) start[record] = place + 1;
            }
            commas_before += __builtin_popcountll(commas);
        }
    }
    if (text[length - 1] != '\n' || quoted) fields[found++] = open + 1;
    *records = found;
}
