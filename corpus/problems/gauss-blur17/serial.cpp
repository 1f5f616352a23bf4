#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <vector>

// A separable blur with the symmetric weights weight[|k|], k = -8..8; coordinates are clamped to the image.
extern "C" void gauss_blur(const float* in, const float* weight, float* out, int rows, int cols) {
    std::vector<float> mid((size_t)rows * cols);
    for (int y = 0; y < rows; ++y) {
        const float* row = in + (size_t)y * cols;
        for (int x = 0; x < cols; ++x) {
            float sum = 0.0f;
            for (int k = -8; k <= 8; ++k) {
                sum += weight[std::abs(k)] * row[std::min(std::max(x + k, 0), cols - 1)];
            }
            mid[(size_t)y * cols + x] = sum;
        }
    }
    for (int y = 0; y < rows; ++y) {
        float* result = out + (size_t)y * cols;
        for (int x = 0; x < cols; ++x) {
            result[x] = 0.0f;
        }
        for (int k = -8; k <= 8; ++k) {
            const float* row = &mid[(size_t)std::min(std::max(y + k, 0), rows - 1) * cols];
            for (int x = 0; x < cols; ++x) {
                result[x] += weight[std::abs(k)] * row[x];
            }
        }
    }
}
