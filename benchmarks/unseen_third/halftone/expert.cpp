// Sixteen rows are the lanes of vectors, each two pixels behind the row above it, so that all errors that a pixel
// needs are there. Bands of 16 rows are cut into tiles; tiles of one wave are independent and go to the threads.
#include <algorithm>
#include <cstddef>
#include <vector>

namespace {
constexpr int kRows = 16, kSteps = 256;  // a tile; kSteps at least 32, the lag of a band behind the one above
typedef int Lanes __attribute__((vector_size(4 * kRows)));

struct Band {  // shares of the errors one, two and three steps ago
    Lanes right1, back1, down1, down2, ahead1, ahead2, ahead3;
};

// v / 16, rounded towards 0
inline Lanes sixteenth(Lanes v) { return (v + ((v >> 31) & 15)) >> 4; }

// Steps from begin to end of a band: lane r is at pixel step - 2 r. above: what the row before the band passes on;
// below: what the band passes on.
void tile(const unsigned char* __restrict ink, unsigned char* __restrict dots, Band& state,
          const int* __restrict above, int* __restrict below, int begin, int end, int rows, int w) {
    alignas(64) int in[kSteps][kRows];
    alignas(64) int out[kSteps][kRows];
    for (int r = 0; r < kRows; ++r) {
        for (int s = begin; s < end; ++s) {
            const int x = s - 2 * r;
            in[s - begin][r] = r < rows && x >= 0 && x < w ? ink[(size_t)r * w + x] : 0;
        }
    }
    const Lanes up = {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    const Lanes behind = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
    const Lanes top = {-1};
    Band b = state;
    for (int s = begin; s < end; ++s) {
        const Lanes passed = b.back1 + b.down2 + b.ahead3;
        if (s >= 2 * kRows && s - 2 * kRows < w) below[s - 2 * kRows] = passed[kRows - 1];
        Lanes from_above = __builtin_shuffle(passed, up);
        from_above = (from_above & ~top) | (top & (s < w ? above[s] : 0));
        const Lanes value = *(const Lanes*)in[s - begin] + b.right1 + from_above;
        const Lanes dot = (value > 127) & 255;
        const Lanes x = s - behind;
        const Lanes error = (value - dot) & (x >= 0) & (x < w);
        *(Lanes*)out[s - begin] = dot;
        b.right1 = sixteenth(error * 7);
        b.ahead3 = b.ahead2;
        b.ahead2 = b.ahead1;
        b.down2 = b.down1;
        b.back1 = sixteenth(error * 3);
        b.down1 = sixteenth(error * 5);
        b.ahead1 = error - b.right1 - b.back1 - b.down1;
    }
    state = b;
    for (int r = 0; r < rows; ++r) {
        const int first = std::max(begin, 2 * r), last = std::min(end, w + 2 * r);
        for (int s = first; s < last; ++s) dots[(size_t)r * w + s - 2 * r] = (unsigned char)out[s - begin][r];
    }
}
}  // namespace

extern "C" void halftone(const unsigned char* __restrict ink, unsigned char* __restrict dots, int planes, int h,
                         int w) {
    const int bands = (h + kRows - 1) / kRows, steps = w + 2 * kRows, chunks = (steps + kSteps - 1) / kSteps;
    std::vector<Band> state((size_t)planes * bands, Band{});
    std::vector<int> passed((size_t)planes * (bands + 1) * w, 0);
    const int waves = chunks + 2 * (bands - 1);
#pragma omp parallel
    for (int wave = 0; wave < waves; ++wave) {
        // band b is at chunk wave - 2 b
        const int lowest = std::max(0, (wave - chunks + 2) / 2), highest = std::min(bands - 1, wave / 2);
        const int here = highest - lowest + 1;
#pragma omp for schedule(static, 1)
        for (int job = 0; job < planes * here; ++job) {
            const int p = job % planes, b = lowest + job / planes, c = wave - 2 * b;
            const size_t at = (size_t)p * h * w + (size_t)b * kRows * w;
            int* above = passed.data() + ((size_t)p * (bands + 1) + b) * w;
            tile(ink + at, dots + at, state[(size_t)p * bands + b], above, above + w, c * kSteps,
                 std::min(steps, (c + 1) * kSteps), std::min(kRows, h - b * kRows), w);
        }
    }
}
