#include <cstddef>

// y[j] = sum over i of x[i] * a[i][j], for a matrix of rows x cols that is stored row by row.
extern "C" void gemv_transposed(const float* a, const float* x, float* y, int rows, int cols) {
    for (int j = 0; j < cols; ++j) {
        y[j] = 0.0f;
    }
    for (int i = 0; i < rows; ++i) {
        const float* row = a + (size_t)i * cols;
        for (int j = 0; j < cols; ++j) {
            y[j] += x[i] * row[j];
        }
    }
}
