#include <cstddef>

// out[j][i] = in[i][j]: the transpose of a matrix of rows x cols.
extern "C" void transpose(const float* in, float* out, int rows, int cols) {
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < cols; ++j) {
            out[(size_t)j * rows + i] = in[(size_t)i * cols + j];
        }
    }
}
