// Rows to the threads. A row of windows is summed over its lines first, pixel by pixel in vectors, and only then
// across the looks.
#pragma GCC optimize("no-math-errno", "no-trapping-math")  // else roots and selects are not vectorized
#include <algorithm>
#include <cmath>
#include <cstddef>

struct Complex {
    float re, im;
};

namespace {
constexpr int kPixels = 1024;  // of a line that are summed at once, in L1

struct Sums {
    alignas(64) float re[kPixels], im[kPixels], a[kPixels], b[kPixels];
};

inline void add(Sums& s, const Complex* __restrict x, const Complex* __restrict y, int count, bool fresh) {
    if (fresh) {
#pragma omp simd
        for (int k = 0; k < count; ++k) s.re[k] = s.im[k] = s.a[k] = s.b[k] = 0;
    }
#pragma omp simd
    for (int k = 0; k < count; ++k) {
        s.re[k] += x[k].re * y[k].re + x[k].im * y[k].im;
        s.im[k] += x[k].im * y[k].re - x[k].re * y[k].im;
        s.a[k] += x[k].re * x[k].re + x[k].im * x[k].im;
        s.b[k] += y[k].re * y[k].re + y[k].im * y[k].im;
    }
}

// Apart from the threads' loop, where g++ forgets that roots set no errno.
__attribute__((noinline)) void finish(const Sums& s, int count, float share, Complex* __restrict mean,
                                      float* __restrict coherence) {
#pragma omp simd
    for (int c = 0; c < count; ++c) {
        const float power = s.a[c] * s.b[c];
        const float size = s.re[c] * s.re[c] + s.im[c] * s.im[c];
        const float root = __builtin_sqrtf(size / (power > 0 ? power : 1.0f));
        coherence[c] = power > 0 ? root : 0.0f;
        mean[c].re = s.re[c] * share;
        mean[c].im = s.im[c] * share;
    }
}
}  // namespace

extern "C" void sar_looks(const Complex* __restrict master, const Complex* __restrict slave,
                          Complex* __restrict interferogram, float* __restrict coherence, int rows, int cols, int down,
                          int across) {
    const size_t width = (size_t)cols * across;
    const int block = std::max(1, kPixels / across);  // windows at once
    const float share = 1.0f / (down * across);
#pragma omp parallel for collapse(2) schedule(static)
    for (int r = 0; r < rows; ++r) {
        for (int first = 0; first < cols; first += block) {
            Sums s;
            const int here = std::min(block, cols - first);
            float* const sums[4] = {s.re, s.im, s.a, s.b};
            if (across <= kPixels) {
                for (int i = 0; i < down; ++i) {
                    const size_t at = ((size_t)r * down + i) * width + (size_t)first * across;
                    add(s, master + at, slave + at, here * across, i == 0);
                }
            } else {  // a single window, piece by piece
                float whole[4] = {};
                for (int i = 0; i < down; ++i) {
                    for (int j = 0; j < across; j += kPixels) {
                        const size_t at = ((size_t)r * down + i) * width + (size_t)first * across + j;
                        const int count = std::min(kPixels, across - j);
                        add(s, master + at, slave + at, count, true);
                        for (int q = 0; q < 4; ++q) {
                            for (int k = 0; k < count; ++k) whole[q] += sums[q][k];
                        }
                    }
                }
                for (int q = 0; q < 4; ++q) sums[q][0] = whole[q];
            }
            const int step = across <= kPixels ? across : 1;
            if (step > 1) {  // in place: window c lies at c * step and further right
                for (int q = 0; q < 4; ++q) {
                    float* v = sums[q];
                    for (int c = 0; c < here; ++c) {
                        float sum = v[c * step];
                        for (int j = 1; j < step; ++j) sum += v[c * step + j];
                        v[c] = sum;
                    }
                }
            }
            const size_t to = (size_t)r * cols + first;
            finish(s, here, share, interferogram + to, coherence + to);
        }
    }
}
