// Gets a call on a device ready: what it works on is unmasked, then twice the L2 cache is read, so
// that nothing is left there and nothing is dirty. Masks and table: sealing.py. Afterwards takes the
// outputs' digests: sealing.py.
// With a host compiler (tests on machines with no GPU) there is no cache to sweep.
#include <cuda_runtime_api.h>

#include "seal.h"
#include <stddef.h>
#include <string.h>

struct Part {  // field for field the Part of harness.cpp
  uint32_t first, arrays, elements;
};
struct Entry {  // field for field SEALED of shared_memory.py
  uint64_t at, bytes, value, block;
};
struct alignas(16) Pair {  // moved as one
  uint64_t low, high;
};

// Unmasks the block of an array that begins at this byte of it.
SHARED void open_block(char *array, const Entry &entry, uint64_t byte, Key key) {
  const Block mask = keystream(key, entry.block + byte / sizeof mask);
  const uint64_t left = entry.bytes - byte;
  Pair *pairs = reinterpret_cast<Pair *>(array + byte);
  if (left >= sizeof mask) {
    const Pair first = pairs[0], second = pairs[1];
    pairs[0] = {first.low ^ mask.word[0], first.high ^ mask.word[1]};
    pairs[1] = {second.low ^ mask.word[2], second.high ^ mask.word[3]};
    return;
  }
  for (uint64_t i = 0; i < left; ++i)
    array[byte + i] ^= static_cast<char>(mask.word[i / 8] >> i % 8 * 8);
}

SHARED void open_element(char *base, const Entry &entry, Key key) {
  const Block mask = keystream(key, entry.block);
  const uint64_t at = entry.at ^ mask.word[0], bytes = entry.bytes ^ mask.word[1];
  const uint64_t value = entry.value ^ mask.word[2];
  for (uint64_t i = 0; i < bytes && i < sizeof value; ++i)
    base[at + i] = static_cast<char>(value >> 8 * i);
}

#ifdef __CUDACC__
static const int THREADS = 256, MOST_BLOCKS = 1056, MOST_DIGESTS = 4096;
static float4 *buffer;
static float *sink;
static size_t elements;
static unsigned long long *sums;

__global__ void read_all(const float4 *data, size_t n, float *out) {
  float sum = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x) {
    float4 v = data[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 1.0f) *out = sum;  // never: the buffer is zeros
}

extern "C" cudaError_t regraph_sweep_open() {
  int device = 0, bytes = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device);
  elements = 2 * size_t(bytes) / sizeof(float4);
  if (!error) error = cudaMalloc(&buffer, elements * sizeof(float4) + sizeof(float));
  if (!error) error = cudaMalloc(&sums, MOST_DIGESTS * sizeof *sums);
  sink = reinterpret_cast<float *>(buffer + elements);
  return error ? error : cudaMemset(buffer, 0, elements * sizeof(float4));
}

// One array for each y of the grid, and all elements for the last.
__global__ void open_all(char *base, const Entry *entries, Part part, Key key) {
  const uint64_t thread = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
  const uint64_t threads = gridDim.x * uint64_t(blockDim.x);
  const Entry *entry = entries + part.first + blockIdx.y;
  if (blockIdx.y < part.arrays)
    for (uint64_t byte = thread * sizeof(Block); byte < entry->bytes;
         byte += threads * sizeof(Block))
      open_block(base + entry->at, *entry, byte, key);
  else
    for (uint64_t i = thread; i < part.elements; i += threads) open_element(base, entry[i], key);
}

// `entries` is the table here, from which the size of the grid is taken; `base` + `table` there.
extern "C" void regraph_unseal(char *base, uint64_t table, const Entry *entries, Part part,
                               Key key) {
  uint64_t most = part.elements;
  for (uint32_t i = 0; i < part.arrays; ++i) {
    const uint64_t blocks = (entries[part.first + i].bytes + sizeof(Block) - 1) / sizeof(Block);
    most = blocks > most ? blocks : most;
  }
  const uint64_t wanted = (most + THREADS - 1) / THREADS;
  const dim3 grid(wanted > MOST_BLOCKS ? MOST_BLOCKS : wanted ? wanted : 1,
                  part.arrays + (part.elements ? 1 : 0));
  open_all<<<grid, THREADS>>>(base, reinterpret_cast<Entry *>(base + table), part, key);
}

// One output for each y of the grid.
__global__ void digest_all(const char *base, const Entry *entries, unsigned long long *sums, Key key) {
  const Entry &entry = entries[blockIdx.y];
  const uint64_t words = (entry.bytes + 7) / 8;
  uint64_t sum = 0;
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < words;
       i += gridDim.x * uint64_t(blockDim.x))
    sum += digest_of(word_of(base + entry.at, entry.bytes, i), i, key);
  for (int lanes = 16; lanes; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(&sums[entry.value], sum);
}

// `entries` is the table here; `digests` is, too. They are as many as the last output's number says.
extern "C" void regraph_digest(const char *base, uint64_t table, const Entry *entries, Part outputs,
                               uint64_t *digests, Key key) {
  const Entry *last = entries + outputs.first + outputs.arrays - 1;
  const size_t bytes = (last->value + 1) * sizeof *digests;
  if (last->value >= MOST_DIGESTS) return;
  uint64_t most = 1;
  for (const Entry *entry = entries + outputs.first; entry <= last; ++entry)
    most = entry->bytes > most ? entry->bytes : most;
  const uint64_t wanted = (most + 8 * THREADS - 1) / (8 * THREADS);
  const dim3 grid(wanted > MOST_BLOCKS ? MOST_BLOCKS : wanted, outputs.arrays);
  cudaMemsetAsync(sums, 0, bytes);
  digest_all<<<grid, THREADS>>>(base, reinterpret_cast<const Entry *>(base + table) + outputs.first,
                                sums, key);
  cudaMemcpy(digests, sums, bytes, cudaMemcpyDeviceToHost);
}

__global__ void nothing() {}

extern "C" void regraph_nothing() { nothing<<<1, 1>>>(); }
extern "C" void regraph_sweep() { read_all<<<1056, 256>>>(buffer, elements, sink); }
#else
extern "C" cudaError_t regraph_sweep_open() { return cudaSuccess; }
extern "C" void regraph_unseal(char *base, uint64_t table, const Entry *, Part part, Key key) {
  const Entry *entries = reinterpret_cast<Entry *>(base + table) + part.first;
  for (uint32_t i = 0; i < part.arrays; ++i)
    for (uint64_t byte = 0; byte < entries[i].bytes; byte += sizeof(Block))
      open_block(base + entries[i].at, entries[i], byte, key);
  for (uint32_t i = 0; i < part.elements; ++i)
    open_element(base, entries[part.arrays + i], key);
}
extern "C" void regraph_digest(const char *base, uint64_t table, const Entry *, Part outputs,
                               uint64_t *digests, Key key) {
  const Entry *entries = reinterpret_cast<const Entry *>(base + table) + outputs.first;
  memset(digests, 0, (entries[outputs.arrays - 1].value + 1) * sizeof *digests);
  for (const Entry *entry = entries; entry < entries + outputs.arrays; ++entry)
    for (uint64_t i = 0; 8 * i < entry->bytes; ++i)
      digests[entry->value] += digest_of(word_of(base + entry->at, entry->bytes, i), i, key);
}
extern "C" void regraph_nothing() {}
extern "C" void regraph_sweep() {}
#endif
