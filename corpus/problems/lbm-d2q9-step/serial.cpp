#include <cstddef>

// Pulls the nine populations of each cell from its periodic neighbours and relaxes them to equilibrium.
extern "C" void lbm_step(const float* f, float* out, float omega, int rows, int cols) {
    const int cx[9] = {0, 1, -1, 0, 0, 1, -1, 1, -1};
    const int cy[9] = {0, 0, 0, 1, -1, 1, -1, -1, 1};
    const float w[9] = {4.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9,
                        1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < cols; ++x) {
            float g[9], rho = 0.0f, ux = 0.0f, uy = 0.0f;
            for (int d = 0; d < 9; ++d) {
                const int yy = (y - cy[d] + rows) % rows, xx = (x - cx[d] + cols) % cols;
                g[d] = f[((size_t)yy * cols + xx) * 9 + d];
                rho += g[d];
                ux += cx[d] * g[d];
                uy += cy[d] * g[d];
            }
            ux /= rho;
            uy /= rho;
            const float square = 1.5f * (ux * ux + uy * uy);
            float* result = out + ((size_t)y * cols + x) * 9;
            for (int d = 0; d < 9; ++d) {
                const float cu = 3.0f * (cx[d] * ux + cy[d] * uy);
                const float equilibrium = w[d] * rho * (1.0f + cu + 0.5f * cu * cu - square);
                result[d] = g[d] + omega * (equilibrium - g[d]);
            }
        }
    }
}
