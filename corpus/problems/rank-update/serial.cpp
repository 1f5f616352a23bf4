#include <cstddef>

// a[i][j] += sum over p of x[i][p] * y[p][j]: an update of rank `rank` of a matrix of rows x cols.
extern "C" void rank_update(float* a, const float* x, const float* y, int rows, int cols, int rank) {
    for (int i = 0; i < rows; ++i) {
        float* row = a + (size_t)i * cols;
        for (int p = 0; p < rank; ++p) {
            const float factor = x[(size_t)i * rank + p];
            for (int j = 0; j < cols; ++j) {
                row[j] += factor * y[(size_t)p * cols + j];
            }
        }
    }
}
