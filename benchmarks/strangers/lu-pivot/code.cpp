#include <cmath>
#include <utility>

enum lu_status { LU_OK = 0, LU_SINGULAR = 1 };

/* PA = LU in place; perm[k] is the row that came to place k. Returns an lu_status. */
int LU_decompose(double *A, int N, double tol, int *perm) {
    int i, j, k, imax;
    double maxA, absA;

    for (i = 0; i < N; i++) perm[i] = i;
    for (k = 0; k < N; k++) {
        maxA = 0.0;
        imax = k;
        for (i = k; i < N; i++)
            if ((absA = std::fabs(A[i * N + k])) > maxA) {
                maxA = absA;
                imax = i;
            }
        if (maxA < tol) return LU_SINGULAR;
        if (imax != k) {
            std::swap(perm[k], perm[imax]);
            double *p = A + k * N, *q = A + imax * N;
            for (j = 0; j < N; j++) std::swap(*p++, *q++);
        }
        for (i = k + 1; i < N; i++) {
            A[i * N + k] /= A[k * N + k];
            for (j = k + 1; j < N; j++) A[i * N + j] -= A[i * N + k] * A[k * N + j];
        }
    }
    return LU_OK;
}
