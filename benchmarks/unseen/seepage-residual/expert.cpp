// Rows without branches: rows beyond the border are the row itself, where the difference of heads is 0, and the
// two ends of a row are done apart. One fused pass with a reduction for the largest.
#include <algorithm>
#include <cmath>
#include <cstddef>

namespace {
inline float flow(float ka, float kb, float ha, float hb) { return 2.0f * ka * kb / (ka + kb) * (hb - ha); }
}  // namespace

extern "C" void seepage_residual(const float* __restrict head, const float* __restrict conductivity,
                                 const float* __restrict source, float* __restrict residual, float* __restrict largest,
                                 int nz, int ny, int nx) {
    float most = 0;
    const size_t layer = (size_t)ny * nx;
#pragma omp parallel for collapse(2) schedule(static) reduction(max : most)
    for (int z = 0; z < nz; ++z) {
        for (int y = 0; y < ny; ++y) {
            const size_t row = z * layer + (size_t)y * nx;
            const float *h = head + row, *k = conductivity + row, *s = source + row;
            const size_t north = y > 0 ? row - nx : row, south = y < ny - 1 ? row + nx : row;
            const size_t below = z > 0 ? row - layer : row, above = z < nz - 1 ? row + layer : row;
            const float *hn = head + north, *kn = conductivity + north, *hs = head + south, *ks = conductivity + south;
            const float *hb = head + below, *kb = conductivity + below, *ha = head + above, *ka = conductivity + above;
            float* out = residual + row;
            auto balance = [&](int x, int left, int right) {
                float sum = s[x];
                sum += flow(k[x], k[left], h[x], h[left]);
                sum += flow(k[x], k[right], h[x], h[right]);
                sum += flow(k[x], kn[x], h[x], hn[x]);
                sum += flow(k[x], ks[x], h[x], hs[x]);
                sum += flow(k[x], kb[x], h[x], hb[x]);
                sum += flow(k[x], ka[x], h[x], ha[x]);
                out[x] = sum;
                return std::fabs(sum);
            };
            float here = balance(0, 0, std::min(1, nx - 1));
            if (nx > 1) here = std::max(here, balance(nx - 1, nx - 2, nx - 1));
#pragma omp simd reduction(max : here)
            for (int x = 1; x < nx - 1; ++x) {
                const float size = balance(x, x - 1, x + 1);
                here = size > here ? size : here;
            }
            most = std::max(most, here);
        }
    }
    *largest = most;
}
