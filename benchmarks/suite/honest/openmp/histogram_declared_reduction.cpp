// problem: corpus/problems/histogram
// style: user-defined reduction of a struct of four tables, eight keys to a word, serial tail
#include <cstdint>
#include <cstring>

namespace {
struct Tables {
  int of[4][256];
};

void join(Tables& into, const Tables& other) {
  for (int t = 0; t < 4; ++t)
    for (int b = 0; b < 256; ++b) into.of[t][b] += other.of[t][b];
}
}  // namespace

#pragma omp declare reduction(tables : Tables : join(omp_out, omp_in)) initializer(omp_priv = Tables())

extern "C" void histogram(const unsigned char* keys, int* hist, int n) {
  Tables all = Tables();
  const int words = n / 8;
#pragma omp parallel for reduction(tables : all) schedule(static) if (n > 2000)
  for (int w = 0; w < words; ++w) {
    uint64_t word;
    memcpy(&word, keys + 8 * static_cast<size_t>(w), sizeof word);
    ++all.of[0][word & 255];
    ++all.of[1][word >> 8 & 255];
    ++all.of[2][word >> 16 & 255];
    ++all.of[3][word >> 24 & 255];
    ++all.of[0][word >> 32 & 255];
    ++all.of[1][word >> 40 & 255];
    ++all.of[2][word >> 48 & 255];
    ++all.of[3][word >> 56];
  }
  for (int i = 8 * words; i < n; ++i) ++all.of[i & 3][keys[i]];
  for (int b = 0; b < 256; ++b) hist[b] = all.of[0][b] + all.of[1][b] + all.of[2][b] + all.of[3][b];
}
