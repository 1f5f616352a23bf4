#include <cstddef>
#include <vector>

// `sweeps` steps of the heat equation: each inner point adds k times its 7-point Laplacian.
extern "C" void heat3d(const float* in, float* out, float k, int nz, int ny, int nx, int sweeps) {
    const size_t plane = (size_t)ny * nx, n = nz * plane;
    std::vector<float> next(n);
    for (size_t i = 0; i < n; ++i) {
        out[i] = in[i];
    }
    for (int s = 0; s < sweeps; ++s) {
        for (int z = 1; z < nz - 1; ++z) {
            for (int y = 1; y < ny - 1; ++y) {
                for (int x = 1; x < nx - 1; ++x) {
                    const size_t i = z * plane + (size_t)y * nx + x;
                    next[i] = out[i] + k * (out[i - 1] + out[i + 1] + out[i - nx] + out[i + nx] +
                                            out[i - plane] + out[i + plane] - 6.0f * out[i]);
                }
            }
        }
        for (int z = 1; z < nz - 1; ++z) {
            for (int y = 1; y < ny - 1; ++y) {
                for (int x = 1; x < nx - 1; ++x) {
                    const size_t i = z * plane + (size_t)y * nx + x;
                    out[i] = next[i];
                }
            }
        }
    }
}
