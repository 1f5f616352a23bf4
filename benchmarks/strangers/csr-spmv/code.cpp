#include <cassert>
#include <cmath>
#include <vector>

namespace sparse {

struct Entry {
    int row, col;
    double value;
};

/// y = alpha * A * x + beta * y for a matrix in compressed rows.
template <typename Scalar, typename Index>
void csr_gemv(Index num_rows, Scalar alpha, const Index* row_ptr, const Index* col_idx,
              const Scalar* values, const Scalar* x, Scalar beta, Scalar* y) {
    for (Index row = 0; row < num_rows; ++row) {
        Scalar sum = 0;
        const Index row_start = row_ptr[row];
        const Index row_end = row_ptr[row + 1];
        for (Index jj = row_start; jj < row_end; jj++) {
            sum += values[jj] * x[col_idx[jj]];
        }
        y[row] = alpha * sum + beta * y[row];
    }
}

template void csr_gemv<double, int>(int, double, const int*, const int*, const double*,
                                    const double*, double, double*);

double norm2(const std::vector<double>& r) {
    double s = 0;
    for (std::size_t i = 0; i < r.size(); i++) s += r[i] * r[i];
    return std::sqrt(s);
}

}  // namespace sparse
