#include <cmath>

// out[i] = correlation of x[i .. i + w - 1] and y[i .. i + w - 1]; 0 where one of them hardly varies.
extern "C" void rolling_correlation(const float* x, const float* y, float* out, int n, int w) {
    for (int i = 0; i <= n - w; ++i) {
        double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
        for (int k = 0; k < w; ++k) {
            const double a = x[i + k], b = y[i + k];
            sx += a;
            sy += b;
            sxx += a * a;
            syy += b * b;
            sxy += a * b;
        }
        const double vx = w * sxx - sx * sx, vy = w * syy - sy * sy;
        out[i] = vx * vy > 1e-9 ? (float)((w * sxy - sx * sy) / std::sqrt(vx * vy)) : 0.0f;
    }
}
