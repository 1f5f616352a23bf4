#include <cmath>
#include <cstddef>

// The orthonormal DCT-II of each 8 x 8 block of a picture of 8 * down by 8 * across pixels.
extern "C" void dct8x8(const float* in, float* out, int down, int across) {
    float basis[8][8];
    for (int u = 0; u < 8; ++u) {
        for (int x = 0; x < 8; ++x) {
            basis[u][x] = (u ? 0.5f : 0.35355339f) * std::cos((2 * x + 1) * u * 3.14159265358979323846 / 16);
        }
    }
    const int width = 8 * across;
    for (int by = 0; by < down; ++by) {
        for (int bx = 0; bx < across; ++bx) {
            const float* from = in + (size_t)by * 8 * width + 8 * bx;
            float* to = out + (size_t)by * 8 * width + 8 * bx;
            float half[8][8];
            for (int y = 0; y < 8; ++y) {
                for (int u = 0; u < 8; ++u) {
                    float sum = 0.0f;
                    for (int x = 0; x < 8; ++x) {
                        sum += basis[u][x] * from[(size_t)y * width + x];
                    }
                    half[y][u] = sum;
                }
            }
            for (int v = 0; v < 8; ++v) {
                for (int u = 0; u < 8; ++u) {
                    float sum = 0.0f;
                    for (int y = 0; y < 8; ++y) {
                        sum += basis[v][y] * half[y][u];
                    }
                    to[(size_t)v * width + u] = sum;
                }
            }
        }
    }
}
