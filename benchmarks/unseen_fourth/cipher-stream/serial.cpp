// A stream cipher of the ChaCha kind: 20 rounds make 64 bytes of key stream from the key, a counter and a nonce, and
// the text is mixed with them by exclusive or. The last block may be cut short.
#include <cstddef>
#include <cstdint>

static uint32_t rotated(uint32_t x, int by) { return x << by | x >> (32 - by); }

static void quarter(uint32_t* s, int a, int b, int c, int d) {
    s[a] += s[b];
    s[d] = rotated(s[d] ^ s[a], 16);
    s[c] += s[d];
    s[b] = rotated(s[b] ^ s[c], 12);
    s[a] += s[b];
    s[d] = rotated(s[d] ^ s[a], 8);
    s[c] += s[d];
    s[b] = rotated(s[b] ^ s[c], 7);
}

extern "C" void cipher_stream(const unsigned char* text, const unsigned* key, const unsigned* nonce,
                              unsigned char* out, long long n) {
    uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (int i = 0; i < 8; ++i) state[4 + i] = key[i];
    for (int i = 0; i < 3; ++i) state[13 + i] = nonce[i];
    state[12] = 1;
    for (long long begin = 0; begin < n; begin += 64) {
        uint32_t s[16];
        for (int i = 0; i < 16; ++i) s[i] = state[i];
        for (int round = 0; round < 20; round += 2) {
            quarter(s, 0, 4, 8, 12);
            quarter(s, 1, 5, 9, 13);
            quarter(s, 2, 6, 10, 14);
            quarter(s, 3, 7, 11, 15);
            quarter(s, 0, 5, 10, 15);
            quarter(s, 1, 6, 11, 12);
            quarter(s, 2, 7, 8, 13);
            quarter(s, 3, 4, 9, 14);
        }
        unsigned char stream[64];
        for (int i = 0; i < 16; ++i) {
            const uint32_t word = s[i] + state[i];
            for (int b = 0; b < 4; ++b) stream[4 * i + b] = (unsigned char)(word >> 8 * b);
        }
        const long long here = n - begin < 64 ? n - begin : 64;
        for (long long i = 0; i < here; ++i) out[begin + i] = text[begin + i] ^ stream[i];
        ++state[12];
    }
}
