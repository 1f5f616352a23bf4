#include <cstddef>

// `steps` leapfrog steps: first Hx and Hy from the curl of Ez, then Ez inside from the curl of H.
extern "C" void fdtd2d(float* ez, float* hx, float* hy, int rows, int cols, int steps) {
    const float c = 0.5f;
    for (int s = 0; s < steps; ++s) {
        for (int y = 0; y < rows - 1; ++y) {
            for (int x = 0; x < cols; ++x) {
                const size_t i = (size_t)y * cols + x;
                hx[i] -= c * (ez[i + cols] - ez[i]);
            }
        }
        for (int y = 0; y < rows; ++y) {
            for (int x = 0; x < cols - 1; ++x) {
                const size_t i = (size_t)y * cols + x;
                hy[i] += c * (ez[i + 1] - ez[i]);
            }
        }
        for (int y = 1; y < rows - 1; ++y) {
            for (int x = 1; x < cols - 1; ++x) {
                const size_t i = (size_t)y * cols + x;
                ez[i] += c * (hy[i] - hy[i - 1] - hx[i] + hx[i - cols]);
            }
        }
    }
}
