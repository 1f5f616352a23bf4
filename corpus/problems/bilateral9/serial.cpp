#include <algorithm>
#include <cmath>
#include <cstddef>

// out = mean over the 9 x 9 window, weighted by exp(-distance^2 / 18 - 2 * difference^2); cut at the border.
extern "C" void bilateral9(const float* in, float* out, int rows, int cols) {
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < cols; ++x) {
            const float centre = in[(size_t)y * cols + x];
            float sum = 0.0f, total = 0.0f;
            for (int yy = std::max(0, y - 4); yy <= std::min(rows - 1, y + 4); ++yy) {
                for (int xx = std::max(0, x - 4); xx <= std::min(cols - 1, x + 4); ++xx) {
                    const float value = in[(size_t)yy * cols + xx], d = value - centre;
                    const int square = (xx - x) * (xx - x) + (yy - y) * (yy - y);
                    const float weight = std::exp(-square / 18.0f - 2.0f * d * d);
                    sum += weight * value;
                    total += weight;
                }
            }
            out[(size_t)y * cols + x] = sum / total;
        }
    }
}
