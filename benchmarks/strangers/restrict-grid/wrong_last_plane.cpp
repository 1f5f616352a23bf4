template <class Real>
void restrictFull(const Real* fine, int n, Real* coarse) {
    const long m = (n - 1) / 2, row = n, plane = static_cast<long>(n) * n;
#pragma omp parallel for collapse(2) schedule(static)
    for (long i = 0; i < m - 1; ++i)
        for (long j = 0; j < m; ++j)
            for (long k = 0; k < m; ++k) {
                const Real* at = fine + (2 * i + 1) * plane + (2 * j + 1) * row + 2 * k + 1;
                Real sum = 0;
                for (long di = -1; di <= 1; ++di)
                    for (long dj = -1; dj <= 1; ++dj)
                        for (long dk = -1; dk <= 1; ++dk)
                            sum += at[di * plane + dj * row + dk] / (8 << (di * di + dj * dj + dk * dk));
                coarse[(i * m + j) * m + k] = sum;
            }
}
