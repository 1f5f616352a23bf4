#include <cmath>
#include <cstddef>

// top[8 * r ..] = the eight largest of the cols >= 8 numbers in row r of x, in descending order.
extern "C" void top_k_rows(const float* x, float* top, int rows, int cols) {
    for (int r = 0; r < rows; ++r) {
        const float* row = x + static_cast<size_t>(r) * cols;
        float best[8];
        for (int k = 0; k < 8; ++k) {
            best[k] = -INFINITY;
        }
        for (int c = 0; c < cols; ++c) {
            const float value = row[c];
            if (value > best[7]) {
                int k = 7;
                for (; k > 0 && best[k - 1] < value; --k) {
                    best[k] = best[k - 1];
                }
                best[k] = value;
            }
        }
        for (int k = 0; k < 8; ++k) {
            top[static_cast<size_t>(8) * r + k] = best[k];
        }
    }
}
