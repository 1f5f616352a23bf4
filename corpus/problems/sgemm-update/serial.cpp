#include <cstddef>

// c -= a b, with a of m x k, b of k x n and c of m x n, all stored row by row.
extern "C" void sgemm_update(const float* a, const float* b, float* c, int m, int n, int k) {
    for (int i = 0; i < m; ++i) {
        for (int p = 0; p < k; ++p) {
            const float factor = a[(size_t)i * k + p];
            for (int j = 0; j < n; ++j) {
                c[(size_t)i * n + j] -= factor * b[(size_t)p * n + j];
            }
        }
    }
}
