#include <cmath>
#include <cstdlib>

#define A(i, j) a[(size_t)(i) * n + (j)]

/* Right-looking Cholesky, lower triangle, in place. The strict upper triangle is cleared.
 * a must be symmetric positive definite. */
void cholesky(double *a, int n)
{
    int i, j, k;
    for (k = 0; k < n; k++) {
        A(k, k) = sqrt(A(k, k));
        for (i = k + 1; i < n; i++)
            A(i, k) /= A(k, k);
        for (j = k + 1; j < n; j++)
            for (i = j; i < n; i++)
                A(i, j) -= A(i, k) * A(j, k);
    }
    for (i = 0; i < n; i++)
        for (j = i + 1; j < n; j++)
            A(i, j) = 0.0;
}

void forward_substitution(const double *a, double *b, int n)
{
    for (int i = 0; i < n; i++) {
        double s = b[i];
        for (int j = 0; j < i; j++) s -= A(i, j) * b[j];
        b[i] = s / A(i, i);
    }
}
