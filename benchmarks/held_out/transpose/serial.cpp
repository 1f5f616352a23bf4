// The transpose of a matrix.
#include <cstddef>

void transpose(const float* a, float* out, int rows, int cols) {
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) out[c * rows + r] = a[r * cols + c];
}

extern "C" void transpose_entry(const float* a, float* out, int rows, int cols) {
    transpose(a, out, rows, cols);
}
