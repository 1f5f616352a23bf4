// The judge's half of metric "device": masks inputs, takes digests of outputs (cipher.py).
#include "seal.h"
#include <string.h>

static inline void mask_block(const char *plain, char *masked, uint64_t bytes, Key key, uint64_t number) {
  const Block mask = keystream(key, number);
  uint64_t words[4] = {};
  memcpy(words, plain, bytes);
  for (int i = 0; i < 4; ++i) words[i] ^= mask.word[i];
  memcpy(masked, words, bytes);
}

// Writes the bytes masked with the blocks of the keystream from this one on.
extern "C" void regraph_mask(const char *plain, char *masked, uint64_t bytes, uint64_t block,
                             uint64_t first, uint64_t second) {
  const Key key = {{first, second}};
  const uint64_t whole = bytes / sizeof(Block), rest = bytes % sizeof(Block);
  for (uint64_t i = 0; i < whole; ++i)
    mask_block(plain + i * sizeof(Block), masked + i * sizeof(Block), sizeof(Block), key, block + i);
  mask_block(plain + bytes - rest, masked + bytes - rest, rest, key, block + whole);
}

extern "C" uint64_t regraph_digest(const char *output, uint64_t bytes, uint64_t first,
                                   uint64_t second) {
  const Key key = {{first, second}};
  uint64_t sum = 0;
  for (uint64_t i = 0; 8 * i < bytes; ++i) sum += digest_of(word_of(output, bytes, i), i, key);
  return sum;
}
