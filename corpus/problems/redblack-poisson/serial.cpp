#include <cstddef>

// Red-black Gauss-Seidel: u = (sum of four neighbours - f) / 4, first where x + y is even, then where it is odd.
extern "C" void redblack(float* u, const float* f, int rows, int cols, int sweeps) {
    for (int s = 0; s < sweeps; ++s) {
        for (int colour = 0; colour < 2; ++colour) {
            for (int y = 1; y < rows - 1; ++y) {
                for (int x = 1 + (y + 1 + colour) % 2; x < cols - 1; x += 2) {
                    const size_t i = (size_t)y * cols + x;
                    u[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - cols] + u[i + cols] - f[i]);
                }
            }
        }
    }
}
