#include <cstddef>
#include <vector>

// c = a b, with a of m x k and b of k x n in half precision and c of m x n in float.
extern "C" void hgemm(const _Float16* a, const _Float16* b, float* c, int m, int n, int k) {
    std::vector<float> wide((size_t)k * n);
    for (size_t e = 0; e < (size_t)k * n; ++e) {
        wide[e] = (float)b[e];
    }
    for (int i = 0; i < m; ++i) {
        float* row = c + (size_t)i * n;
        for (int j = 0; j < n; ++j) {
            row[j] = 0.0f;
        }
        for (int p = 0; p < k; ++p) {
            const float factor = (float)a[(size_t)i * k + p];
            const float* from = wide.data() + (size_t)p * n;
            for (int j = 0; j < n; ++j) {
                row[j] += factor * from[j];
            }
        }
    }
}
