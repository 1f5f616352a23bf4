// Sums slide: per shift and column the window's height is kept as a sum that gains a row and loses one, and the
// width is added up from it, so a window costs about ten operations on 16-bit vectors instead of 49 on bytes.
// Bands of rows go to the threads; the column sums of a band stay in its L1 or L2.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {
// Sum: what holds a window's sum, 255 (2 radius + 1)^2. Fixed: the radius, or 0 where only the call says it; a
// fixed one unrolls the sum over the width.
template <class Sum, int Fixed>
void match(const unsigned char* left, const unsigned char* right, unsigned char* disparity, int radius, int shifts,
           int rows, int cols) {
    constexpr int kBand = 16;
    const int reach = Fixed ? Fixed : radius;
    const int inner = rows - 2 * radius;  // rows with whole windows
#pragma omp parallel
    {
        std::vector<Sum> columns((size_t)shifts * cols), best_(cols);
        std::vector<unsigned char> found_(cols);
        Sum* best = best_.data();
        unsigned char* found = found_.data();
#pragma omp for schedule(dynamic)
        for (int band = 0; band < inner; band += kBand) {
            const int first = band + radius, last = std::min(band + kBand, inner) + radius;
            std::fill(columns.begin(), columns.end(), (Sum)0);
            for (int y = first - radius; y < first + radius; ++y) {  // all but the lowest row of the first window
                for (int s = 0; s < shifts; ++s) {
                    const unsigned char *l = left + (size_t)y * cols, *r = right + (size_t)y * cols - s;
                    Sum* column = columns.data() + (size_t)s * cols;
#pragma omp simd
                    for (int x = s; x < cols; ++x) {
                        column[x] += (Sum)(l[x] > r[x] ? l[x] - r[x] : r[x] - l[x]);
                    }
                }
            }
            for (int y = first; y < last; ++y) {
                std::fill(best, best + cols, (Sum)~(Sum)0);
                std::fill(found, found + cols, (unsigned char)0);
                for (int s = 0; s < shifts; ++s) {
                    const unsigned char *l = left + (size_t)(y + radius) * cols, *r = right + (size_t)(y + radius) * cols - s;
                    Sum* column = columns.data() + (size_t)s * cols;
#pragma omp simd
                    for (int x = s; x < cols; ++x) {
                        column[x] += (Sum)(l[x] > r[x] ? l[x] - r[x] : r[x] - l[x]);
                    }
#pragma omp simd
                    for (int x = radius + s; x < cols - radius; ++x) {
                        Sum sum = 0;
                        for (int dx = -reach; dx <= reach; ++dx) sum += column[x + dx];
                        const bool better = sum < best[x];
                        best[x] = better ? sum : best[x];
                        found[x] = better ? (unsigned char)s : found[x];
                    }
                    l = left + (size_t)(y - radius) * cols, r = right + (size_t)(y - radius) * cols - s;
#pragma omp simd
                    for (int x = s; x < cols; ++x) {
                        column[x] -= (Sum)(l[x] > r[x] ? l[x] - r[x] : r[x] - l[x]);
                    }
                }
                std::copy(found, found + cols, disparity + (size_t)y * cols);
            }
        }
    }
}
}  // namespace

extern "C" void stereo_disparity(const unsigned char* left, const unsigned char* right, unsigned char* disparity,
                                 int radius, int shifts, int rows, int cols) {
    if (rows <= 2 * radius || cols <= 2 * radius) {
        std::fill(disparity, disparity + (size_t)rows * cols, (unsigned char)0);
        return;
    }
    std::fill(disparity, disparity + (size_t)radius * cols, (unsigned char)0);
    std::fill(disparity + (size_t)(rows - radius) * cols, disparity + (size_t)rows * cols, (unsigned char)0);
    if (radius == 3) match<uint16_t, 3>(left, right, disparity, radius, shifts, rows, cols);
    else if (radius <= 7) match<uint16_t, 0>(left, right, disparity, radius, shifts, rows, cols);
    else match<uint32_t, 0>(left, right, disparity, radius, shifts, rows, cols);
}
