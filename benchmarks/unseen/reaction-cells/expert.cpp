// The cells become the inner, vectorized loop: 64 cells at a time take all steps, so four vectors of them hide
// each other's latency and the state stays in registers or L1.
#include <algorithm>

namespace {
constexpr int kBlock = 64;

inline float rate_x(float x, float a, float b1, float xxy) { return a + xxy - b1 * x; }
inline float rate_y(float x, float b, float xxy) { return b * x - xxy; }
}  // namespace

extern "C" void reaction_cells(float* __restrict x, float* __restrict y, const float* __restrict feed_a,
                               const float* __restrict feed_b, float dt, int steps, int cells) {
    const float half = 0.5f * dt, sixth = dt / 6.0f;
#pragma omp parallel for schedule(static)
    for (int first = 0; first < cells; first += kBlock) {
        alignas(64) float cx[kBlock], cy[kBlock], a[kBlock], b[kBlock];
        const int count = std::min(kBlock, cells - first);
        for (int i = 0; i < kBlock; ++i) {  // lanes beyond the end repeat the last cell
            const int from = first + std::min(i, count - 1);
            cx[i] = x[from];
            cy[i] = y[from];
            a[i] = feed_a[from];
            b[i] = feed_b[from];
        }
        for (int s = 0; s < steps; ++s) {
#pragma omp simd aligned(cx, cy, a, b : 64)
            for (int i = 0; i < kBlock; ++i) {
                const float b1 = b[i] + 1.0f;
                float px = cx[i], py = cy[i], xxy = px * px * py;
                const float k1x = rate_x(px, a[i], b1, xxy), k1y = rate_y(px, b[i], xxy);
                px = cx[i] + half * k1x, py = cy[i] + half * k1y, xxy = px * px * py;
                const float k2x = rate_x(px, a[i], b1, xxy), k2y = rate_y(px, b[i], xxy);
                px = cx[i] + half * k2x, py = cy[i] + half * k2y, xxy = px * px * py;
                const float k3x = rate_x(px, a[i], b1, xxy), k3y = rate_y(px, b[i], xxy);
                px = cx[i] + dt * k3x, py = cy[i] + dt * k3y, xxy = px * px * py;
                const float k4x = rate_x(px, a[i], b1, xxy), k4y = rate_y(px, b[i], xxy);
                cx[i] += sixth * (k1x + 2.0f * k2x + 2.0f * k3x + k4x);
                cy[i] += sixth * (k1y + 2.0f * k2y + 2.0f * k3y + k4y);
            }
        }
        std::copy_n(cx, count, x + first);
        std::copy_n(cy, count, y + first);
    }
}
