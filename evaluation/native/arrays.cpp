// The judge's work on whole arrays, on every core that the calling thread may use (arrays.py).
//
// What is drawn depends on key and place alone, never on how many threads drew it. Randomness is the
// keystream of seal.h: each block of 1,024 elements has two streams of 256 of its blocks.
#include "seal.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <sched.h>
#include <string.h>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

constexpr uint64_t BLOCK = 1024, STREAM = 256, GRAIN = 2 << 18;
constexpr double DENSITY = 0.1;  // share of elements of a sparse array that are not zero
#ifdef __FLT16_MANT_DIG__
using Half = _Float16;
#else
using Half = float;  // such a compiler compiles no problem that has halves
#endif

// Calls work(first, last) until every one of `count` places was in one such part, `grain` long.
template <class Work> void share(uint64_t count, uint64_t grain, const Work &work) {
  cpu_set_t ours;
  const bool known = sched_getaffinity(0, sizeof ours, &ours) == 0;
  const uint64_t parts = (count + grain - 1) / grain, cores = known ? CPU_COUNT(&ours) : 1;
  std::atomic<uint64_t> next{0};
  const auto take = [&] {
    for (uint64_t part; (part = next++) < parts;) work(part * grain, std::min(count, (part + 1) * grain));
  };
  std::vector<std::thread> others;
  try {
    while (others.size() + 1 < std::min(cores, parts)) others.emplace_back(take);
  } catch (const std::system_error &) {
    // no more threads are to be had: those that there are do it all
  }
  take();
  for (std::thread &other : others) other.join();
}

// Calls work with a value of the element type of this number, as arrays.py counts them. Each use of
// it is compiled for every type: where fewer do, the ones below take less of a compiler's time.
template <class Work> void with_float(int type, const Work &work) {
  if (type == 0) return work(Half());
  return type == 1 ? work(float()) : work(double());
}

template <class Work> void with_word(int type, const Work &work) {
  if (type == 7) return work(uint8_t());
  if (type == 8) return work(uint16_t());
  return type == 9 ? work(uint32_t()) : work(uint64_t());
}

template <class Work> void with_type(int type, const Work &work) {
  switch (type) {
    case 0: case 1: case 2: return with_float(type, work);
    case 3: return work(int8_t());
    case 4: return work(int16_t());
    case 5: return work(int32_t());
    case 6: return work(int64_t());
    default: return with_word(type, work);
  }
}

template <class T> constexpr bool is_float = !std::is_integral_v<T>;

// ---- Drawing

enum Kind : int32_t { UNIFORM, NORMAL, SPARSE, LARGE_RANGE, SMALL_INT, SORTED };

struct Drawing {  // field for field the `_Drawing` of arrays.py
  Key key;
  double low, high;           // floats: the range, or the decades of a large one
  double mean, spread;        // integers that are normal: before `start` is added
  double least, most;         // and what they are cut to
  uint64_t start, range, rest;  // integers: the least, how many (0: 2^64), what the others are
  int32_t kind, wide;         // wide: floats are stored as double
};

template <class Word> void words(Word *to, const Drawing &how, uint64_t block, uint64_t stream) {
  const uint64_t first = (2 * block + stream) * STREAM;
  for (uint64_t i = 0; i < BLOCK * sizeof(Word) / sizeof(Block); ++i) {
    const Block drawn = keystream(how.key, first + i);
    memcpy(reinterpret_cast<char *>(to) + i * sizeof(Block), &drawn, sizeof drawn);
  }
}

inline double unit(uint32_t word) { return static_cast<int32_t>(word) * 0x1p-32 + 0.5; }
inline double unit(uint64_t word) { return (word >> 11) * 0x1p-53; }

// ln x of a positive normal number, to 1e-8: loops of it become vector code, which those of libm do not.
template <class F> inline F logarithm(F x) {
  using Bits = std::conditional_t<sizeof(F) == 4, int32_t, int64_t>;
  constexpr int MANTISSA = sizeof(F) == 4 ? 23 : 52;
  const F root = F(0.70710678118654752);
  Bits bits, least;
  memcpy(&bits, &x, sizeof x);
  memcpy(&least, &root, sizeof root);
  const Bits exponent = (bits - least) >> MANTISSA;  // so that x = m 2^exponent, 0.7 < m < 1.4
  bits -= exponent << MANTISSA;
  F m;
  memcpy(&m, &bits, sizeof m);
  const F s = (m - 1) / (m + 1), z = s * s;
  const F series = F(1) + z * (F(1) / 3 + z * (F(1) / 5 + z * (F(1) / 7 + z * (F(1) / 9))));
  return F(exponent) * F(0.69314718055994531) + 2 * s * series;
}

// Pairs of normal numbers (Box and Muller 1958). The angle is one of an eighth of a turn to either side,
// and three more bits say which of the eight it is.
template <class F, class Word> void normal(F *to, const Word *drawn) {
  constexpr int LEFT = sizeof(Word) == 4 ? 8 : 11;
  constexpr F SCALE = sizeof(Word) == 4 ? F(0x1p-24) : F(0x1p-53), QUARTER = F(1.5707963267948966);
  constexpr F ALL = sizeof(Word) == 4 ? F(0x1p-32) : F(0x1p-64);
  using Signed = std::make_signed_t<Word>;
  for (uint64_t i = 0; i < BLOCK / 2; ++i) {
    const Word near = drawn[i], turn = drawn[i + BLOCK / 2];
    const F radius = std::sqrt(F(-2) * logarithm((F(near) + F(0.5)) * ALL) + F(1e-30));
    const F x = (F(Signed(turn >> LEFT)) * SCALE - F(0.5)) * QUARTER, z = x * x;
    const F sine = x * (1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72))));
    const F cosine = 1 - z / 2 * (1 - z / 12 * (1 - z / 30 * (1 - z / 56)));
    const F one = turn & 1 ? sine : cosine, other = turn & 1 ? cosine : sine;
    to[i] = turn & 2 ? -radius * one : radius * one;
    to[i + BLOCK / 2] = turn & 4 ? -radius * other : radius * other;
  }
}

template <class T> void floats(T *to, const Drawing &how, uint64_t block) {
  using F = std::conditional_t<sizeof(T) == 8, double, float>;
  using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  Word drawn[BLOCK];
  uint32_t more[BLOCK];
  F values[BLOCK];
  words(drawn, how, block, 0);
  if (how.kind == UNIFORM) {
    for (uint64_t i = 0; i < BLOCK; ++i) to[i] = T(how.low + (how.high - how.low) * unit(drawn[i]));
    return;
  }
  if (how.kind == SMALL_INT) {
    for (uint64_t i = 0; i < BLOCK; ++i) to[i] = T(F(int(std::floor(9 * unit(drawn[i]))) - 4));
    return;
  }
  normal(values, drawn);
  if (how.kind != NORMAL) words(more, how, block, 1);
  if (how.kind == SPARSE)
    for (uint64_t i = 0; i < BLOCK; ++i) values[i] *= unit(more[i]) < DENSITY;
  if (how.kind == LARGE_RANGE)
    for (uint64_t i = 0; i < BLOCK; ++i)
      values[i] = F(values[i] * std::pow(10.0, how.low + (how.high - how.low) * unit(more[i])));
  for (uint64_t i = 0; i < BLOCK; ++i) to[i] = T(values[i]);
}

// Integers of a range, from `start` on. Of more than 2^32 some come up to twice as often as others.
template <class T> void uniform(T *to, const Drawing &how, uint64_t block) {
  if (how.range && how.range <= uint64_t(1) << 32) {
    uint32_t drawn[BLOCK];
    words(drawn, how, block, 0);
    for (uint64_t i = 0; i < BLOCK; ++i) to[i] = T(how.start + (drawn[i] * how.range >> 32));
    return;
  }
  uint64_t drawn[BLOCK];
  words(drawn, how, block, 0);
  for (uint64_t i = 0; i < BLOCK; ++i)
    to[i] = T(how.start + (how.range ? high(drawn[i], how.range) : drawn[i]));
}

template <class T> void integers(T *to, const Drawing &how, uint64_t block) {
  uint32_t drawn[BLOCK];
  if (how.kind != NORMAL) uniform(to, how, block);
  if (how.kind == SPARSE) {
    words(drawn, how, block, 1);
    for (uint64_t i = 0; i < BLOCK; ++i) to[i] = unit(drawn[i]) < DENSITY ? to[i] : T(how.rest);
  }
  if (how.kind == NORMAL) {
    float values[BLOCK];
    words(drawn, how, block, 0);
    normal(values, drawn);
    for (uint64_t i = 0; i < BLOCK; ++i) {
      const double near = std::rint(how.mean + how.spread * values[i]);
      const double cut = std::min(std::max(near, how.least), how.most);
      to[i] = T(how.start + static_cast<uint64_t>(static_cast<int64_t>(cut)));
    }
  }
}

// Adds up exponential numbers: over their whole sum these are sorted uniform ones, without any sort.
double steps(double *to, const Drawing &how, uint64_t block, uint64_t count) {
  uint64_t drawn[BLOCK];
  words(drawn, how, block, 0);
  for (uint64_t i = 0; i < count; ++i) to[i] = -logarithm(unit(drawn[i]) + 0x1p-60);
  double sum = 0;
  for (uint64_t i = 0; i < count; ++i) to[i] = sum += std::max(to[i], 0.0);
  return sum;
}

template <class T, class Store>
void sorted(const Drawing &how, uint64_t count, const Store &store) {
  const uint64_t blocks = count / BLOCK + 1;  // one number more than elements
  const auto size = [&](uint64_t block) { return std::min(BLOCK, count + 1 - block * BLOCK); };
  std::vector<double> before(blocks + 1);
  share(blocks, GRAIN / BLOCK, [&](uint64_t first, uint64_t last) {
    double each[BLOCK];
    for (uint64_t b = first; b < last; ++b) before[b + 1] = steps(each, how, b, size(b));
  });
  for (uint64_t b = 0; b < blocks; ++b) before[b + 1] += before[b];
  // fp64 has no neighbours among many integers of 64 bits: a longer product has other low bits
  using Real = std::conditional_t<!is_float<T> && sizeof(T) == 8, long double, double>;
  const Real range = how.range ? Real(how.range) : Real(0x1p64);
  share(blocks, GRAIN / BLOCK, [&](uint64_t first, uint64_t last) {
    double each[BLOCK];
    T to[BLOCK];
    for (uint64_t b = first; b < last; ++b) {
      steps(each, how, b, size(b));
      for (uint64_t i = 0; i < size(b); ++i) {
        const Real part = Real(before[b] + each[i]) / before[blocks];
        if constexpr (is_float<T>)
          to[i] = T(how.low + (how.high - how.low) * part);
        else
          to[i] = T(how.start + std::min(static_cast<uint64_t>(part * range), how.range - 1));
      }
      if (b * BLOCK < count) store(to, b);
    }
  });
}

// ---- Comparing

template <class T> uint64_t mixed(T element, Key key) {
  uint64_t word = 0;
  memcpy(&word, &element, sizeof element);
  const uint64_t odd = key.word[1] | 1;
  word = (word ^ key.word[0]) * odd;
  word = (word ^ word >> 32) * odd;
  return word ^ word >> 29;
}

// The products of a block's elements with weights; eight sums at once, in an order that is fixed.
template <class T, class Weight> Weight weighed(const T *block, const Weight *weights, uint64_t count) {
  Weight sums[8] = {};
  uint64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int lane = 0; lane < 8; ++lane) sums[lane] += Weight(block[i + lane]) * weights[i + lane];
  for (; i < count; ++i) sums[0] += Weight(block[i]) * weights[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

inline void mask_block(const char *plain, char *masked, uint64_t bytes, Key key, uint64_t number) {
  const Block mask = keystream(key, number);
  uint64_t some[4] = {};
  memcpy(some, plain, bytes);
  for (int i = 0; i < 4; ++i) some[i] ^= mask.word[i];
  memcpy(masked, some, bytes);
}

}  // namespace

// Draws so many elements.
extern "C" void regraph_draw(char *to, int type, uint64_t count, const Drawing *drawing) {
  const Drawing how = *drawing;
  with_type(type, [&](auto of) {
    using T = decltype(of);
    const auto store = [&](const T *block, uint64_t number) {
      const uint64_t first = number * BLOCK, size = std::min(BLOCK, count - first);
      if (how.wide)
        std::copy(block, block + size, reinterpret_cast<double *>(to) + first);
      else
        memcpy(to + first * sizeof(T), block, size * sizeof(T));
    };
    if (how.kind == SORTED) return sorted<T>(how, count, store);
    share((count + BLOCK - 1) / BLOCK, GRAIN / BLOCK, [&](uint64_t first, uint64_t last) {
      T block[BLOCK];
      for (uint64_t b = first; b < last; ++b) {
        if constexpr (is_float<T>)
          floats(block, how, b);
        else
          integers(block, how, b);
        store(block, b);
      }
    });
  });
}

// Multiplies each float by 1 + eps or 1 - eps, by chance.
extern "C" void regraph_move(char *values, int type, uint64_t count, double eps, const Key *key) {
  with_float(type, [&](auto of) {
    using T = decltype(of);
    T *const all = reinterpret_cast<T *>(values);
    share(count, GRAIN, [&](uint64_t first, uint64_t last) {
      for (uint64_t at = first; at < last; at += 256) {
        const Block signs = keystream(*key, at / 256);
        for (uint64_t i = at; i < std::min(last, at + 256); ++i) {
          const bool up = signs.word[i / 64 % 4] >> i % 64 & 1;
          all[i] = T(all[i] * (up ? 1 + eps : 1 - eps));
        }
      }
    });
  });
}

// Floats in fp64.
extern "C" void regraph_widen(const char *from, int type, uint64_t count, double *to) {
  with_float(type, [&](auto of) {
    using T = decltype(of);
    const T *const all = reinterpret_cast<const T *>(from);
    share(count, GRAIN, [&](uint64_t first, uint64_t last) {
      for (uint64_t i = first; i < last; ++i) to[i] = double(all[i]);
    });
  });
}

extern "C" void regraph_copy(const char *from, char *to, uint64_t bytes) {
  share(bytes, GRAIN, [&](uint64_t first, uint64_t last) { memcpy(to + first, from + first, last - first); });
}

extern "C" void regraph_fill(char *to, uint64_t bytes, int byte) {
  share(bytes, GRAIN, [&](uint64_t first, uint64_t last) { memset(to + first, byte, last - first); });
}

extern "C" int regraph_equal(const char *one, const char *other, uint64_t bytes) {
  std::atomic<bool> equal{true};
  share(bytes, GRAIN, [&](uint64_t first, uint64_t last) {
    if (equal && memcmp(one + first, other + first, last - first)) equal = false;
  });
  return equal;
}

// Marks what is off by more than its tolerance; what is not finite must be the same. How many are.
extern "C" uint64_t regraph_wrong(const char *output, int type, const double *truth, const double *allowed,
                                  int is_scalar, int nan_fails, uint64_t count, uint8_t *marks) {
  std::atomic<uint64_t> total{0};
  with_float(type, [&](auto of) {
    using T = decltype(of);
    const T *const all = reinterpret_cast<const T *>(output);
    share(count, GRAIN, [&](uint64_t first, uint64_t last) {
      uint64_t bad = 0;
      for (uint64_t i = first; i < last; ++i) {
        const double value = double(all[i]), right = truth[i], most = allowed[is_scalar ? 0 : i];
        const double off = std::abs(value - right);
        const bool same = (value == right) | ((value != value) & (right != right));
        const bool far = nan_fails ? !(off <= most) : off > most;
        marks[i] = std::abs(right) <= std::numeric_limits<double>::max() ? far : !same;
        bad += marks[i];
      }
      total += bad;
    });
  });
  return total;
}

// The sum of each block's elements with these weights; integers modulo 2^64.
extern "C" void regraph_sums(const char *values, int type, uint64_t count, const void *weights, void *sums) {
  const auto add = [&](auto of) {
    using T = decltype(of);
    using Weight = std::conditional_t<is_float<T>, double, uint64_t>;
    const T *const all = reinterpret_cast<const T *>(values);
    share((count + BLOCK - 1) / BLOCK, GRAIN / BLOCK, [&](uint64_t first, uint64_t last) {
      for (uint64_t b = first; b < last; ++b)
        static_cast<Weight *>(sums)[b] = weighed(all + b * BLOCK, static_cast<const Weight *>(weights),
                                                 std::min(BLOCK, count - b * BLOCK));
    });
  };
  type <= 2 ? with_float(type, add) : with_word(type, add);
}

// Writes the bytes masked with the blocks of the keystream from this one on.
extern "C" void regraph_mask(const char *plain, char *masked, uint64_t bytes, uint64_t block, const Key *key) {
  share((bytes + sizeof(Block) - 1) / sizeof(Block), GRAIN / sizeof(Block), [&](uint64_t first, uint64_t last) {
    for (uint64_t i = first; i < last; ++i) {
      const uint64_t at = i * sizeof(Block);
      mask_block(plain + at, masked + at, std::min<uint64_t>(sizeof(Block), bytes - at), *key, block + i);
    }
  });
}

extern "C" uint64_t regraph_digest(const char *output, uint64_t bytes, const Key *key) {
  std::atomic<uint64_t> total{0};
  share((bytes + 7) / 8, GRAIN / 8, [&](uint64_t first, uint64_t last) {
    uint64_t sum = 0;
    for (uint64_t i = first; i < last; ++i) sum += digest_of(word_of(output, bytes, i), i, *key);
    total += sum;
  });
  return total;
}
