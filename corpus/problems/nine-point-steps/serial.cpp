#include <cstddef>
#include <vector>

// `steps` times: each inner point becomes 0.5 of itself, 0.1 of its 4 near and 0.025 of its 4 diagonal neighbours.
extern "C" void nine_point(const float* in, float* out, int rows, int cols, int steps) {
    const size_t n = (size_t)rows * cols;
    std::vector<float> next(n);
    for (size_t i = 0; i < n; ++i) {
        out[i] = in[i];
    }
    for (int s = 0; s < steps; ++s) {
        for (int y = 1; y < rows - 1; ++y) {
            for (int x = 1; x < cols - 1; ++x) {
                const size_t i = (size_t)y * cols + x;
                const float near = out[i - 1] + out[i + 1] + out[i - cols] + out[i + cols];
                const float far = out[i - cols - 1] + out[i - cols + 1] + out[i + cols - 1] + out[i + cols + 1];
                next[i] = 0.5f * out[i] + 0.1f * near + 0.025f * far;
            }
        }
        for (int y = 1; y < rows - 1; ++y) {
            for (int x = 1; x < cols - 1; ++x) {
                out[(size_t)y * cols + x] = next[(size_t)y * cols + x];
            }
        }
    }
}
