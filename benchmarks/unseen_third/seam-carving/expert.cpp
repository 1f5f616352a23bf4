// Contrasts are kept and mended beside a seam only. Costs are made in strips of rows: a thread makes a piece of a strip
// from the row above it, wider by as many columns as the strip has rows, so that pieces need not wait for each other.
#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {
constexpr int kRows = 32, kMost = 512;

inline int contrast(const unsigned char* grey, int stride, int h, int w, int y, int x) {
    const unsigned char* row = grey + (size_t)y * stride;
    const int left = row[std::max(x - 1, 0)], right = row[std::min(x + 1, w - 1)];
    const int up = grey[(size_t)std::max(y - 1, 0) * stride + x];
    const int down = grey[(size_t)std::min(y + 1, h - 1) * stride + x];
    return std::abs(right - left) + std::abs(down - up);
}

// to[x] = the least of from[x - 1 .. x + 1], plus the contrast; from is readable one further on both sides.
inline void one_row(int* __restrict to, const int* __restrict from, const short* __restrict e, int count) {
#pragma omp simd
    for (int x = 0; x < count; ++x) {
        const int sides = from[x - 1] < from[x + 1] ? from[x - 1] : from[x + 1];
        to[x] = (sides < from[x] ? sides : from[x]) + e[x];
    }
}

constexpr int kFar = 1 << 30;

// Costs of rows first .. last - 1 in columns begin .. end - 1 of a picture that is w wide.
void piece(int* cost, const short* energy, int stride, int w, int first, int last, int begin, int end) {
    alignas(64) int rooms[2][kMost + 2 * kRows + 32];
    const int low = std::max(0, begin - kRows), high = std::min(w, end + kRows), wide = high - low;
    int *from = rooms[0] + 16, *to = rooms[1] + 16;
    if (first == 0) {
        std::fill(from, from + wide, 0);
    } else {
        std::memcpy(from, cost + (size_t)(first - 1) * stride + low, sizeof(int) * wide);
    }
    for (int y = first; y < last; ++y) {
        from[-1] = from[wide] = kFar;  // beyond a piece's halo: wrong by one more column per row, never in the piece
        one_row(to, from, energy + (size_t)y * stride + low, wide);
        std::memcpy(cost + (size_t)y * stride + begin, to + (begin - low), sizeof(int) * (end - begin));
        std::swap(from, to);
    }
}
}  // namespace

extern "C" void seam_carving(const unsigned char* __restrict picture, unsigned char* __restrict narrow,
                             long long* __restrict total, int h, int w, int seams) {
    const int stride = w;
    std::vector<unsigned char> grey(picture, picture + (size_t)h * w);
    std::vector<short> energy((size_t)h * w);
    std::vector<int> cost((size_t)h * w), seam(h);
    long long sum = 0;
#pragma omp parallel
    {
        const int threads = omp_get_num_threads();
#pragma omp for schedule(static)
        for (int y = 0; y < h; ++y) {
            for (int x = 0; x < w; ++x) {
                energy[(size_t)y * stride + x] = (short)contrast(grey.data(), stride, h, w, y, x);
            }
        }
        for (int k = 0; k < seams; ++k) {
            const int wide = w - k;
            const int even = (wide + threads - 1) / threads;
            const int part = std::min(kMost, std::max(96, (even + 15) / 16 * 16));
            for (int first = 0; first < h; first += kRows) {
#pragma omp for schedule(static)
                for (int begin = 0; begin < wide; begin += part) {
                    piece(cost.data(), energy.data(), stride, wide, first, std::min(h, first + kRows), begin,
                          std::min(wide, begin + part));
                }
            }
#pragma omp single
            {
                const int* last = cost.data() + (size_t)(h - 1) * stride;
                int x = (int)(std::min_element(last, last + wide) - last);
                sum += last[x];
                for (int y = h - 1; y >= 0; --y) {
                    seam[y] = x;
                    if (y == 0) break;
                    const int* row = cost.data() + (size_t)(y - 1) * stride;
                    int best = std::max(x - 1, 0);
                    for (int q = best + 1; q <= std::min(x + 1, wide - 1); ++q) best = row[q] < row[best] ? q : best;
                    x = best;
                }
            }
#pragma omp for schedule(static)
            for (int y = 0; y < h; ++y) {
                const size_t at = (size_t)y * stride + seam[y];
                const int rest = wide - 1 - seam[y];
                std::memmove(grey.data() + at, grey.data() + at + 1, rest);
                std::memmove(energy.data() + at, energy.data() + at + 1, sizeof(short) * rest);
            }
#pragma omp for schedule(static)
            for (int y = 0; y < h; ++y) {  // a neighbouring row's seam is one column away at most
                for (int x = std::max(0, seam[y] - 2); x <= std::min(wide - 2, seam[y] + 2); ++x) {
                    energy[(size_t)y * stride + x] = (short)contrast(grey.data(), stride, h, wide - 1, y, x);
                }
            }
        }
#pragma omp for schedule(static)
        for (int y = 0; y < h; ++y) {
            std::memcpy(narrow + (size_t)y * (w - seams), grey.data() + (size_t)y * stride, w - seams);
        }
    }
    *total = sum;
}
