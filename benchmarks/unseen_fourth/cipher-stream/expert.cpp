// 16 blocks as lanes of vectors, then the words turned round, so that text is read and written in whole blocks. Groups
// of 16 blocks go to the threads; only the last one may be cut short.
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {
typedef uint32_t Lanes __attribute__((vector_size(64)));

inline Lanes rotated(Lanes x, int by) { return x << by | x >> (32 - by); }

inline void quarter(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
    a += b;
    d = rotated(d ^ a, 16);
    c += d;
    b = rotated(b ^ c, 12);
    a += b;
    d = rotated(d ^ a, 8);
    c += d;
    b = rotated(b ^ c, 7);
}

// One of four steps that turn 16 rows of 16 words round: squares of this many words change places.
template <int step>
inline void turn(Lanes* r) {
    Lanes low, high;
    for (int l = 0; l < 16; ++l) {
        low[l] = l & step ? 16 + l - step : l;
        high[l] = l & step ? 16 + l : l + step;
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
        if (i & step) continue;
        const Lanes a = r[i], b = r[i + step];
        r[i] = __builtin_shuffle(a, b, low);
        r[i + step] = __builtin_shuffle(a, b, high);
    }
}

// 1024 bytes of the key stream from this block on.
inline void stream(const uint32_t* state, uint32_t first, Lanes* out) {
    Lanes s[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) s[i] = state[i] - Lanes{};
    const Lanes counter = first + Lanes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} + state[12];
    s[12] = counter;
    for (int round = 0; round < 20; round += 2) {
        quarter(s[0], s[4], s[8], s[12]);
        quarter(s[1], s[5], s[9], s[13]);
        quarter(s[2], s[6], s[10], s[14]);
        quarter(s[3], s[7], s[11], s[15]);
        quarter(s[0], s[5], s[10], s[15]);
        quarter(s[1], s[6], s[11], s[12]);
        quarter(s[2], s[7], s[8], s[13]);
        quarter(s[3], s[4], s[9], s[14]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) s[i] += i == 12 ? counter : state[i] - Lanes{};
    turn<8>(s);
    turn<4>(s);
    turn<2>(s);
    turn<1>(s);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) out[i] = s[i];
}
}  // namespace

extern "C" void cipher_stream(const unsigned char* __restrict text, const unsigned* __restrict key,
                              const unsigned* __restrict nonce, unsigned char* __restrict out, long long n) {
    uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (int i = 0; i < 8; ++i) state[4 + i] = key[i];
    for (int i = 0; i < 3; ++i) state[13 + i] = nonce[i];
    state[12] = 1;
#pragma omp parallel for schedule(static)
    for (long long begin = 0; begin < n; begin += 1024) {
        Lanes key_stream[16];
        stream(state, (uint32_t)(begin / 64), key_stream);
        if (begin + 1024 <= n) {
#pragma GCC unroll 16
            for (int i = 0; i < 16; ++i) {
                Lanes words;
                std::memcpy(&words, text + begin + 64 * i, 64);
                words ^= key_stream[i];
                std::memcpy(out + begin + 64 * i, &words, 64);
            }
        } else {
            const unsigned char* bytes = (const unsigned char*)key_stream;
            for (long long i = begin; i < n; ++i) out[i] = text[i] ^ bytes[i - begin];
        }
    }
}
