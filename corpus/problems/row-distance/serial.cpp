#include <algorithm>
#include <cstddef>

// out = distance to the nearest pixel of the row whose mask is 1, or cols if the row has none.
extern "C" void row_distance(const unsigned char* mask, int* out, int rows, int cols) {
    for (int y = 0; y < rows; ++y) {
        const unsigned char* row = mask + (size_t)y * cols;
        int* result = out + (size_t)y * cols;
        int d = cols;
        for (int x = 0; x < cols; ++x) {
            d = row[x] ? 0 : std::min(d + 1, cols);
            result[x] = d;
        }
        d = cols;
        for (int x = cols - 1; x >= 0; --x) {
            d = row[x] ? 0 : std::min(d + 1, cols);
            result[x] = std::min(result[x], d);
        }
    }
}
