#include <cmath>
#include <vector>

// out[i][j] = gelu(bias[j] + sum over l of a[i][l] * b[l][j]), gelu(x) = x / 2 * (1 + erf(x / sqrt(2)))
extern "C" void half_gemm_gelu(const _Float16* a, const _Float16* b, const float* bias, float* out, int m, int n, int k) {
    for (int i = 0; i < m; ++i) {
        float* o = out + (long long)i * n;
        for (int j = 0; j < n; ++j) o[j] = bias[j];
        for (int l = 0; l < k; ++l) {
            const float f = (float)a[(long long)i * k + l];
            const _Float16* row = b + (long long)l * n;
            for (int j = 0; j < n; ++j) o[j] += f * (float)row[j];
        }
        for (int j = 0; j < n; ++j) o[j] = 0.5f * o[j] * (1.0f + std::erf(o[j] * 0.70710678f));
    }
}
