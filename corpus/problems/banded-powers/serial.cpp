#include <algorithm>
#include <vector>

// out = A^steps in: row i of A has data[d*rows + i] in column i + offset[d], where that is a column.
extern "C" void banded_powers(const int* offset, const float* data, const float* in, float* out, int rows,
                              int diagonals, int steps) {
    std::vector<float> next(rows);
    for (int i = 0; i < rows; ++i) out[i] = in[i];
    for (int s = 0; s < steps; ++s) {
        for (int i = 0; i < rows; ++i) next[i] = 0.0f;
        for (int d = 0; d < diagonals; ++d) {
            const float* diagonal = data + (long)d * rows;
            const int shift = offset[d], low = std::max(0, -shift), high = std::min(rows, rows - shift);
            for (int i = low; i < high; ++i) next[i] += diagonal[i] * out[i + shift];
        }
        for (int i = 0; i < rows; ++i) out[i] = next[i];
    }
}
