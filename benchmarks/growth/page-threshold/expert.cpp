// Separable: a sum per column that gains a row and loses one (vector code), running totals of these along the row,
// and a square's sum as the difference of two totals (vector code). Bands of rows go to the threads.
#include <algorithm>
#include <cstddef>
#include <vector>

namespace {
typedef unsigned char byte;

void add_row(int* __restrict columns, const byte* row, int cols, int sign) {
    for (int x = 0; x < cols; ++x) columns[x] += sign * row[x];
}

void mark(const byte* row, byte* __restrict ink, const int* totals, int radius, int high, int bias, int cols) {
    const auto pixel = [&](int x) {
        const int from = std::max(0, x - radius), to = std::min(cols, x + radius + 1);
        ink[x] = row[x] * (high * (to - from)) * 100 < (totals[to] - totals[from]) * (100 - bias);
    };
    const int left = std::min(radius, cols), right = std::max(left, cols - radius);
    const int by = high * (2 * radius + 1) * 100;
    for (int x = 0; x < left; ++x) pixel(x);
#pragma omp simd
    for (int x = left; x < right; ++x) {
        ink[x] = row[x] * by < (totals[x + radius + 1] - totals[x - radius]) * (100 - bias);
    }
    for (int x = right; x < cols; ++x) pixel(x);
}

void band(const byte* page, byte* ink, int radius, int bias, int rows, int cols, int first, int last) {
    std::vector<int> columns(cols, 0), totals(cols + 1, 0);
    for (int y = std::max(0, first - radius); y < std::min(rows, first + radius); ++y) {
        add_row(columns.data(), page + (size_t)y * cols, cols, 1);
    }
    for (int y = first; y < last; ++y) {
        if (y + radius < rows) add_row(columns.data(), page + (size_t)(y + radius) * cols, cols, 1);
        for (int x = 0; x < cols; ++x) totals[x + 1] = totals[x] + columns[x];
        const int high = std::min(rows, y + radius + 1) - std::max(0, y - radius);
        mark(page + (size_t)y * cols, ink + (size_t)y * cols, totals.data(), radius, high, bias, cols);
        if (y >= radius) add_row(columns.data(), page + (size_t)(y - radius) * cols, cols, -1);
    }
}
}  // namespace

extern "C" void page_threshold(const byte* __restrict page, byte* __restrict ink, int radius, int bias, int rows,
                               int cols) {
    constexpr int kBand = 64;
#pragma omp parallel for schedule(static) if ((long long)rows * cols > 10000)
    for (int first = 0; first < rows; first += kBand) {
        band(page, ink, radius, bias, rows, cols, first, std::min(first + kBand, rows));
    }
}
