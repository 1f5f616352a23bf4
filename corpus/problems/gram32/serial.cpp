#include <cstddef>

// c = A^T A (32 x 32) for a matrix A of rows x 32 that is stored row by row.
extern "C" void gram32(const float* a, float* c, int rows) {
    for (int k = 0; k < 1024; ++k) {
        c[k] = 0.0f;
    }
    for (int r = 0; r < rows; ++r) {
        const float* row = a + (size_t)r * 32;
        for (int i = 0; i < 32; ++i) {
            for (int j = 0; j < 32; ++j) {
                c[32 * i + j] += row[i] * row[j];
            }
        }
    }
}
