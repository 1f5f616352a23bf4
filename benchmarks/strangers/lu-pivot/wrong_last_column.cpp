int LU_decompose(double *A, int N, double tol, int *perm) {
    const long n = N;
    for (int i = 0; i < N; i++) perm[i] = i;
    for (long k = 0; k < n; k++) {
        double most = 0.0;
        long at = k;
        for (long i = k; i < n; i++)
            if (std::fabs(A[i * n + k]) > most) most = std::fabs(A[i * n + k]), at = i;
        if (most < tol) return LU_SINGULAR;
        if (at != k) {
            std::swap(perm[k], perm[at]);
            for (long j = 0; j < n; j++) std::swap(A[k * n + j], A[at * n + j]);
        }
        const double *pivot = A + k * n;
#pragma omp parallel for schedule(static) if (n - k > 64)
        for (long i = k + 1; i < n; i++) {
            double *row = A + i * n;
            const double factor = row[k] /= pivot[k];
            for (long j = k + 1; j < n - 1; j++) row[j] -= factor * pivot[j];
        }
    }
    return LU_OK;
}
