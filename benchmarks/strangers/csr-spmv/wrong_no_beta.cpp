template <typename Scalar, typename Index>
void csr_gemv(Index num_rows, Scalar alpha, const Index* row_ptr, const Index* col_idx,
              const Scalar* values, const Scalar* x, Scalar beta, Scalar* y) {
#pragma omp parallel for schedule(dynamic, 256)
    for (int row = 0; row < num_rows; ++row) {
        double sum = 0;
        for (int jj = row_ptr[row]; jj < row_ptr[row + 1]; jj++) sum += values[jj] * x[col_idx[jj]];
        y[row] = alpha * sum + y[row];
    }
}
