#include <cmath>

// Softmax of each row of a matrix.
extern "C" void softmax_entry(const float* a, float* out, int rows, int cols) {
    for (int r = 0; r < rows; ++r) {
        float most = a[r * cols];
        for (int c = 1; c < cols; ++c)
            if (a[r * cols + c] > most) most = a[r * cols + c];
        float sum = 0.0f;
        for (int c = 0; c < cols; ++c) {
            out[r * cols + c] = std::exp(a[r * cols + c] - most);
            sum += out[r * cols + c];
        }
        for (int c = 0; c < cols; ++c) out[r * cols + c] /= sum;
    }
}
