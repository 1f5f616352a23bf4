#include <cstddef>
#include <utility>
#include <vector>

// `generations` steps of Conway's Game of Life; a cell is 0 or 1, and all is dead outside the grid.
extern "C" void life(const unsigned char* in, unsigned char* out, int rows, int cols, int generations) {
    const size_t pitch = (size_t)cols + 2;
    std::vector<unsigned char> now((rows + 2) * pitch), next((rows + 2) * pitch);  // with a dead rim
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < cols; ++x) {
            now[(y + 1) * pitch + x + 1] = in[(size_t)y * cols + x];
        }
    }
    for (int g = 0; g < generations; ++g) {
        for (int y = 1; y <= rows; ++y) {
            const unsigned char* c = &now[y * pitch];
            const unsigned char* up = c - pitch;
            const unsigned char* down = c + pitch;
            unsigned char* result = &next[y * pitch];
            for (int x = 1; x <= cols; ++x) {
                const int n = up[x - 1] + up[x] + up[x + 1] + c[x - 1] + c[x + 1] +
                              down[x - 1] + down[x] + down[x + 1];
                result[x] = n == 3 || (n == 2 && c[x]) ? 1 : 0;
            }
        }
        std::swap(now, next);
    }
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < cols; ++x) {
            out[(size_t)y * cols + x] = now[(y + 1) * pitch + x + 1];
        }
    }
}
