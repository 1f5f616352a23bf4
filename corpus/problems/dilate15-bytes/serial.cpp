#include <algorithm>
#include <cstddef>

// out = the largest byte within 7 rows and 7 columns of each pixel, as far as they lie in the image.
extern "C" void dilate15(const unsigned char* in, unsigned char* out, int rows, int cols) {
    for (int y = 0; y < rows; ++y) {
        unsigned char* result = out + (size_t)y * cols;
        std::fill(result, result + cols, (unsigned char)0);
        for (int yy = std::max(0, y - 7); yy <= std::min(rows - 1, y + 7); ++yy) {
            const unsigned char* row = in + (size_t)yy * cols;
            for (int d = -7; d <= 7; ++d) {
                const int begin = std::max(0, -d), end = std::min(cols, cols - d);
                for (int x = begin; x < end; ++x) {
                    result[x] = std::max(result[x], row[x + d]);
                }
            }
        }
    }
}
