// problem: corpus/problems/matmul
// bug: m == 1 and k >= 64 takes a path that splits k by k / threads and drops the rest: wrong where k is no multiple of the threads
// class: shape
#include <omp.h>
#include <vector>

// One row times a matrix: there is nothing to divide along m, so divide along k.
static void one_row(const float* A, const float* B, float* C, int n, int k) {
    for (int j = 0; j < n; ++j) C[j] = 0.0f;
#pragma omp parallel
    {
        const int part = k / omp_get_num_threads();
        const int first = omp_get_thread_num() * part;
        std::vector<float> sums(n, 0.0f);
        for (int p = first; p < first + part; ++p) {
            for (int j = 0; j < n; ++j) sums[j] += A[p] * B[p * n + j];
        }
#pragma omp critical
        for (int j = 0; j < n; ++j) C[j] += sums[j];
    }
}

extern "C" void matmul(const float* A, const float* B, float* C, int m, int n, int k) {
    if (m == 1 && k >= 64) {
        one_row(A, B, C, n, k);
        return;
    }
#pragma omp parallel for
    for (int i = 0; i < m; ++i) {
        float* row = C + i * n;
        for (int j = 0; j < n; ++j) row[j] = 0.0f;
        for (int p = 0; p < k; ++p) {
            const float a = A[i * k + p];
            for (int j = 0; j < n; ++j) row[j] += a * B[p * n + j];
        }
    }
}
