// A thread makes a block of the key stream in registers; a warp's 32 blocks are turned round in shared memory, so that
// text is read and written 16 bytes per lane in whole lines. The last blocks go byte by byte.
#include <cuda_runtime.h>

__device__ __forceinline__ unsigned rotated(unsigned x, int by) { return __funnelshift_l(x, x, by); }

__device__ __forceinline__ void quarter(unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
    a += b;
    d = rotated(d ^ a, 16);
    c += d;
    b = rotated(b ^ c, 12);
    a += b;
    d = rotated(d ^ a, 8);
    c += d;
    b = rotated(b ^ c, 7);
}

constexpr int kBlock = 128;

__global__ void __launch_bounds__(kBlock) run(const unsigned char* __restrict__ text, const unsigned* __restrict__ key,
                                              const unsigned* __restrict__ nonce, unsigned char* __restrict__ out,
                                              long long n) {
    __shared__ unsigned stage[kBlock][17];
    const long long block = (long long)blockIdx.x * kBlock + threadIdx.x;
    unsigned state[16], s[16];
    state[0] = 0x61707865u;
    state[1] = 0x3320646eu;
    state[2] = 0x79622d32u;
    state[3] = 0x6b206574u;
#pragma unroll
    for (int i = 0; i < 8; ++i) state[4 + i] = key[i];
    state[12] = 1u + (unsigned)block;
#pragma unroll
    for (int i = 0; i < 3; ++i) state[13 + i] = nonce[i];
#pragma unroll
    for (int i = 0; i < 16; ++i) s[i] = state[i];
#pragma unroll
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
#pragma unroll
    for (int i = 0; i < 16; ++i) stage[threadIdx.x][i] = s[i] + state[i];
    __syncwarp();
    const int warp = threadIdx.x & ~31, lane = threadIdx.x & 31;
    const long long base = ((long long)blockIdx.x * kBlock + warp) * 64;
    const bool even = (((size_t)text | (size_t)out) & 15) == 0;
    if (even && base + 2048 <= n) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const int quad = 32 * k + lane;
            const unsigned* with = &stage[warp + quad / 4][quad % 4 * 4];
            uint4 words = *(const uint4*)(text + base + 16 * quad);
            words.x ^= with[0];
            words.y ^= with[1];
            words.z ^= with[2];
            words.w ^= with[3];
            *(uint4*)(out + base + 16 * quad) = words;
        }
    } else {
        for (int i = lane; i < 2048 && base + i < n; i += 32) {
            out[base + i] = text[base + i] ^ (unsigned char)(stage[warp + i / 64][i % 64 / 4] >> 8 * (i % 4));
        }
    }
}

extern "C" void cipher_stream(const unsigned char* text, const unsigned* key, const unsigned* nonce,
                              unsigned char* out, long long n) {
    const long long blocks = (n + 63) / 64;
    run<<<(unsigned)((blocks + kBlock - 1) / kBlock), kBlock>>>(text, key, nonce, out, n);
}
