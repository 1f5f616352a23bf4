#include <cstddef>

// c[i][j] = inner product of row i of a (m x k) and row j of b (n x k), signed bytes, summed in int.
extern "C" void igemm_nt(const signed char* a, const signed char* b, int* c, int m, int n, int k) {
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            const signed char* p = a + (size_t)i * k;
            const signed char* q = b + (size_t)j * k;
            int sum = 0;
            for (int e = 0; e < k; ++e) {
                sum += p[e] * q[e];
            }
            c[(size_t)i * n + j] = sum;
        }
    }
}
