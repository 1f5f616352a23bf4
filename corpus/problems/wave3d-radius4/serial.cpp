#include <cstddef>

// out = 2 u - previous + speed * Laplacian(u), of eighth order; points within 4 of the border keep u.
extern "C" void wave_step(const float* u, const float* previous, const float* speed, float* out,
                          int nz, int ny, int nx) {
    const float w[5] = {-2.847222f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};
    const size_t plane = (size_t)ny * nx;
    for (int z = 0; z < nz; ++z) {
        for (int y = 0; y < ny; ++y) {
            for (int x = 0; x < nx; ++x) {
                const size_t i = z * plane + (size_t)y * nx + x;
                if (z < 4 || z >= nz - 4 || y < 4 || y >= ny - 4 || x < 4 || x >= nx - 4) {
                    out[i] = u[i];
                    continue;
                }
                float sum = 3.0f * w[0] * u[i];
                for (int r = 1; r <= 4; ++r) {
                    sum += w[r] * (u[i - r] + u[i + r] + u[i - r * nx] + u[i + r * nx] +
                                   u[i - r * plane] + u[i + r * plane]);
                }
                out[i] = 2.0f * u[i] - previous[i] + speed[i] * sum;
            }
        }
    }
}
