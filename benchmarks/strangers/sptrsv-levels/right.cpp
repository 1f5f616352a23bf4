void lower_solve(idx_t nlevels, const idx_t *restrict level_ptr, const idx_t *restrict order,
                 const idx_t *restrict row_ptr, const idx_t *restrict col, const double *restrict val,
                 const double *restrict b, double *restrict x) {
#pragma omp parallel
    for (idx_t l = 0; l < nlevels; l++) {
#pragma omp for schedule(static)
        for (idx_t k = level_ptr[l]; k < level_ptr[l + 1]; k++) {
            const idx_t row = order[k];
            const idx_t last = row_ptr[row + 1] - 1;
            double s = b[row];
            for (idx_t p = row_ptr[row]; p < last; p++) s -= val[p] * x[col[p]];
            x[row] = s / val[last];
        }
    }
}
