void cholesky(double *a, int n)
{
    int i, j, k;
    for (k = 0; k < n; k++) {
        A(k, k) = sqrt(A(k, k));
        #pragma omp parallel for private(i)
        for (i = k + 1; i < n; i++)
            A(i, k) /= A(k, k);
        #pragma omp parallel for private(i) schedule(dynamic, 4)
        for (j = k + 1; j < n; j++)
            for (i = j; i < n; i++)
                A(i, j) -= A(i, k) * A(j, k);
    }
    for (i = 0; i < n; i++)
        for (j = i + 1; j < n; j++)
            A(i, j) = 0.0;
}
