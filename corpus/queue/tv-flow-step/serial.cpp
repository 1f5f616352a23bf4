#include <cmath>
#include <cstddef>
#include <vector>

// out = u + tau * (div(grad u / |grad u|) + lambda * (data - u)); forward differences, 0 past the border.
extern "C" void tv_step(const float* u, const float* data, float* out, float tau, float lambda,
                        int rows, int cols) {
    std::vector<float> px((size_t)rows * cols), py((size_t)rows * cols);
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < cols; ++x) {
            const size_t i = (size_t)y * cols + x;
            const float dx = x + 1 < cols ? u[i + 1] - u[i] : 0.0f;
            const float dy = y + 1 < rows ? u[i + cols] - u[i] : 0.0f;
            const float length = std::sqrt(dx * dx + dy * dy + 0.01f);
            px[i] = dx / length;
            py[i] = dy / length;
        }
    }
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < cols; ++x) {
            const size_t i = (size_t)y * cols + x;
            const float left = x > 0 ? px[i - 1] : 0.0f;
            const float up = y > 0 ? py[i - cols] : 0.0f;
            const float divergence = px[i] - left + py[i] - up;
            out[i] = u[i] + tau * (divergence + lambda * (data[i] - u[i]));
        }
    }
}
