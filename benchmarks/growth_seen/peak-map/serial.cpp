#include <algorithm>
#include <cstddef>

// out = the largest value at most r rows and columns away, within the image.
extern "C" void peak_map(const float* in, float* out, int rows, int cols, int r) {
    for (int y = 0; y < rows; ++y) {
        const int top = std::max(y - r, 0), bottom = std::min(y + r, rows - 1);
        for (int x = 0; x < cols; ++x) {
            const int left = std::max(x - r, 0), right = std::min(x + r, cols - 1);
            float peak = in[(size_t)y * cols + x];
            for (int v = top; v <= bottom; ++v) {
                const float* row = in + (size_t)v * cols;
                for (int u = left; u <= right; ++u) {
                    peak = std::max(peak, row[u]);
                }
            }
            out[(size_t)y * cols + x] = peak;
        }
    }
}
