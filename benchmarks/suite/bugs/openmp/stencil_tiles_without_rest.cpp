// problem: corpus/problems/stencil
// bug: grids of 2^18 points or more go by tiles of 16 x 48: points behind the last whole tile stay as in the input (rows % 16 > 1 or cols % 48 > 1; 1200 x 1200 is right)
// class: shape
#include <algorithm>
#include <vector>

static const int TILE_ROWS = 16;
static const int TILE_COLS = 48;

static inline float mean(const float* a, int i, int j, int cols) {
    return 0.2f * (a[i * cols + j] + a[(i - 1) * cols + j] + a[(i + 1) * cols + j] +
                   a[i * cols + j - 1] + a[i * cols + j + 1]);
}

extern "C" void stencil(const float* in, float* out, int rows, int cols, int sweeps) {
    std::vector<float> buffer(in, in + rows * cols);
    float* next = buffer.data();
    std::copy(in, in + rows * cols, out);
    float* current = out;
    if (rows * cols < 512 * 512) {
        for (int s = 0; s < sweeps; ++s) {
#pragma omp parallel for
            for (int i = 1; i < rows - 1; ++i)
                for (int j = 1; j < cols - 1; ++j) next[i * cols + j] = mean(current, i, j, cols);
            std::swap(current, next);
        }
    } else {
        // Large grids: tiles that stay in the L1 cache.
        for (int s = 0; s < sweeps; ++s) {
#pragma omp parallel for collapse(2) schedule(static)
            for (int ti = 0; ti < rows / TILE_ROWS; ++ti) {
                for (int tj = 0; tj < cols / TILE_COLS; ++tj) {
                    const int i0 = std::max(1, ti * TILE_ROWS);
                    const int i1 = std::min(rows - 1, (ti + 1) * TILE_ROWS);
                    const int j0 = std::max(1, tj * TILE_COLS);
                    const int j1 = std::min(cols - 1, (tj + 1) * TILE_COLS);
                    for (int i = i0; i < i1; ++i)
                        for (int j = j0; j < j1; ++j)
                            next[i * cols + j] = mean(current, i, j, cols);
                }
            }
            std::swap(current, next);
        }
    }
    if (current != out) std::copy(current, current + rows * cols, out);
}
