#include <vector>

// `sweeps` Jacobi sweeps: every inner point becomes the mean of itself and its four neighbours.
extern "C" void stencil(const float* in, float* out, int rows, int cols, int sweeps) {
    std::vector<float> next(rows * cols);
    for (int i = 0; i < rows * cols; ++i) {
        out[i] = in[i];
    }
    for (int s = 0; s < sweeps; ++s) {
        for (int j = 1; j < cols - 1; ++j) {
            for (int i = 1; i < rows - 1; ++i) {
                next[i * cols + j] = 0.2f * (out[i * cols + j] + out[(i - 1) * cols + j] +
                                             out[(i + 1) * cols + j] + out[i * cols + j - 1] +
                                             out[i * cols + j + 1]);
            }
        }
        for (int j = 1; j < cols - 1; ++j) {
            for (int i = 1; i < rows - 1; ++i) {
                out[i * cols + j] = next[i * cols + j];
            }
        }
    }
}
