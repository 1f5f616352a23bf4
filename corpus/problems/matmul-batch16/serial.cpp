#include <cstddef>

// c = a b for each of `batch` pairs of 16 x 16 matrices that lie one after another.
extern "C" void matmul_batch16(const float* a, const float* b, float* c, int batch) {
    for (int m = 0; m < batch; ++m) {
        const float* am = a + (size_t)m * 256;
        const float* bm = b + (size_t)m * 256;
        float* cm = c + (size_t)m * 256;
        for (int i = 0; i < 16; ++i) {
            for (int j = 0; j < 16; ++j) {
                float sum = 0.0f;
                for (int k = 0; k < 16; ++k) {
                    sum += am[16 * i + k] * bm[16 * k + j];
                }
                cm[16 * i + j] = sum;
            }
        }
    }
}
