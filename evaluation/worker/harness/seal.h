// What masks an input of metric "device", and what a digest of an output is: for the device, whose half
// is ready.cu, and for the judge (native/arrays.cpp).
#pragma once
#include <stdint.h>

struct Key {
  uint64_t word[2];
};
struct Block {  // of the keystream
  uint64_t word[4];
};
#ifdef __CUDACC__
#define SHARED __host__ __device__ inline
#else
#define SHARED inline
#endif

SHARED uint64_t high(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
  return __umul64hi(a, b);
#else
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
#endif
}

// Philox 4x64-10 as numpy has it, whose counter is 1 for the first block.
SHARED Block keystream(Key key, uint64_t number) {
  const uint64_t A = 0xD2E7470EE14C6C93u, B = 0xCA5A826395121157u;
  uint64_t a = number + 1, b = 0, c = 0, d = 0;
  for (int round = 0; round < 10; ++round) {
    const uint64_t low = A * a, other = B * c, upper = high(A, a);
    a = high(B, c) ^ b ^ key.word[0];
    b = other;
    c = upper ^ d ^ key.word[1];
    d = low;
    key.word[0] += 0x9E3779B97F4A7C15u;
    key.word[1] += 0xBB67AE8584CAA73Bu;
  }
  return {{a, b, c, d}};
}

// What a word of an output, the `number`-th, adds to its call's digest.
SHARED uint64_t digest_of(uint64_t word, uint64_t number, Key key) {
  uint64_t x = (word + key.word[0]) ^ number * 0x9E3779B97F4A7C15u;
  x *= key.word[1] | 1;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  return x ^ x >> 29;
}

SHARED uint64_t word_of(const char *array, uint64_t bytes, uint64_t number) {
  const uint64_t at = 8 * number;
  if (at + 8 <= bytes) return *reinterpret_cast<const uint64_t *>(array + at);
  uint64_t word = 0;
  for (uint64_t i = at; i < bytes; ++i)
    word |= static_cast<uint64_t>(static_cast<unsigned char>(array[i])) << 8 * (i - at);
  return word;
}
