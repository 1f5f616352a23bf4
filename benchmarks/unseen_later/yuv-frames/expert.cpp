// Per pair of rows: what chroma adds to red, green and blue is computed once for four pixels, by vectors; then rows
// of colours are made and packed. All of a row stays in L1.
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace {
constexpr int kBlock = 256;  // chroma samples

inline unsigned char clip(int value) { return (unsigned char)std::min(std::max(value, 0), 255); }

void row_of(const unsigned char* __restrict luma, const int* __restrict red, const int* __restrict green,
            const int* __restrict blue, unsigned char* __restrict rgb, int count) {
    unsigned char r[2 * kBlock], g[2 * kBlock], b[2 * kBlock];
#pragma omp simd
    for (int x = 0; x < 2 * count; ++x) {
        const int c = 298 * luma[x];
        r[x] = clip((c + red[x]) >> 8);
        g[x] = clip((c + green[x]) >> 8);
        b[x] = clip((c + blue[x]) >> 8);
    }
    for (int x = 0; x < 2 * count; ++x) {
        rgb[3 * x] = r[x];
        rgb[3 * x + 1] = g[x];
        rgb[3 * x + 2] = b[x];
    }
}
}  // namespace

extern "C" void yuv_frames(const unsigned char* __restrict luma, const unsigned char* __restrict u,
                           const unsigned char* __restrict v, unsigned char* __restrict rgb, int frames, int h,
                           int w) {
    constexpr int offset = 128 - 298 * 16;
#pragma omp parallel for collapse(2) schedule(static)
    for (int f = 0; f < frames; ++f) {
        for (int row = 0; row < h; ++row) {
            for (int first = 0; first < w; first += kBlock) {
                const int count = std::min(kBlock, w - first);
                const size_t chroma = ((size_t)f * h + row) * w + first;
                int red[2 * kBlock], green[2 * kBlock], blue[2 * kBlock];
#pragma omp simd
                for (int x = 0; x < count; ++x) {
                    const int d = u[chroma + x] - 128, e = v[chroma + x] - 128;
                    red[2 * x] = red[2 * x + 1] = offset + 409 * e;
                    green[2 * x] = green[2 * x + 1] = offset - 100 * d - 208 * e;
                    blue[2 * x] = blue[2 * x + 1] = offset + 516 * d;
                }
                for (int below = 0; below < 2; ++below) {
                    const size_t at = (((size_t)f * h + row) * 2 + below) * 2 * w + 2 * first;
                    row_of(luma + at, red, green, blue, rgb + 3 * at, count);
                }
            }
        }
    }
}
