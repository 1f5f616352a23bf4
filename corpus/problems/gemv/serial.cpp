#include <cstddef>

// y = A x for a matrix of rows x cols that is stored row by row.
extern "C" void gemv(const float* a, const float* x, float* y, int rows, int cols) {
    for (int i = 0; i < rows; ++i) {
        const float* row = a + (size_t)i * cols;
        float sum = 0.0f;
        for (int j = 0; j < cols; ++j) {
            sum += row[j] * x[j];
        }
        y[i] = sum;
    }
}
