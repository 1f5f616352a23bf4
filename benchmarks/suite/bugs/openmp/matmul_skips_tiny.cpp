// problem: corpus/problems/matmul
// bug: elements of A below 1e-8 count as zero and are skipped: a matrix of tiny floats (1e-9) gives 0
// class: value
#include <cmath>

extern "C" void matmul(const float* A, const float* B, float* C, int m, int n, int k) {
    const float epsilon = 1e-8f;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < m; ++i) {
        float* row = C + i * n;
        for (int j = 0; j < n; ++j) row[j] = 0.0f;
        for (int p = 0; p < k; ++p) {
            const float a = A[i * k + p];
            if (std::fabs(a) < epsilon) continue;  // A is often sparse
            const float* b = B + p * n;
            for (int j = 0; j < n; ++j) row[j] += a * b[j];
        }
    }
}
