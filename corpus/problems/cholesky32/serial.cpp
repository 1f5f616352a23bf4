#include <cmath>
#include <cstddef>

// l = the lower Cholesky factor of each of `batch` 32 x 32 matrices; its upper part is set to 0.
extern "C" void cholesky32(const float* a, float* l, int batch) {
    for (int m = 0; m < batch; ++m) {
        const float* am = a + (size_t)m * 1024;
        float* lm = l + (size_t)m * 1024;
        for (int i = 0; i < 32; ++i) {
            for (int j = 0; j < 32; ++j) {
                if (j > i) {
                    lm[32 * i + j] = 0.0f;
                    continue;
                }
                float sum = am[32 * i + j];
                for (int k = 0; k < j; ++k) {
                    sum -= lm[32 * i + k] * lm[32 * j + k];
                }
                lm[32 * i + j] = i == j ? std::sqrt(sum) : sum / lm[32 * j + j];
            }
        }
    }
}
