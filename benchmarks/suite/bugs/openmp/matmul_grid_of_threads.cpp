// problem: corpus/problems/matmul
// bug: threads form a grid of floor(sqrt(T)) rows; where T is not rows*columns (5, 7, 10, 11, ..) the last threads get rows beyond m: they read and write outside the arrays
// class: team
#include <omp.h>
#include <cmath>

extern "C" void matmul(const float* A, const float* B, float* C, int m, int n, int k) {
#pragma omp parallel
    {
        const int threads = omp_get_num_threads();
        const int t = omp_get_thread_num();
        // 2D decomposition of C
        const int gridRows = (int)std::sqrt((double)threads);
        const int gridCols = threads / gridRows;
        const int r = t / gridCols;
        const int c = t % gridCols;
        const int i0 = r * m / gridRows, i1 = (r + 1) * m / gridRows;
        const int j0 = c * n / gridCols, j1 = (c + 1) * n / gridCols;
        for (int i = i0; i < i1; ++i) {
            for (int j = j0; j < j1; ++j) C[i * n + j] = 0.0f;
            for (int p = 0; p < k; ++p) {
                const float a = A[i * k + p];
                for (int j = j0; j < j1; ++j) C[i * n + j] += a * B[p * n + j];
            }
        }
    }
}
