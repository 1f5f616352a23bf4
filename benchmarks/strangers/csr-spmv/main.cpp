#include <cstdio>
#include <vector>

namespace sparse {
template <typename Scalar, typename Index>
void csr_gemv(Index num_rows, Scalar alpha, const Index* row_ptr, const Index* col_idx,
              const Scalar* values, const Scalar* x, Scalar beta, Scalar* y);
extern template void csr_gemv<double, int>(int, double, const int*, const int*, const double*,
                                           const double*, double, double*);
}  // namespace sparse

int main() {
    const int n = 500;
    std::vector<int> start{0}, column;
    std::vector<double> value, x(n), y(n, 1.0);
    for (int i = 0; i < n; ++i) {
        for (int j = i % 3; j < n; j += 1 + (i * 13) % 29) {
            column.push_back(j);
            value.push_back(1.0 / (1 + i + j));
        }
        start.push_back((int)column.size());
        x[i] = i % 11 - 5;
    }
    for (int k = 0; k < 3; ++k)
        sparse::csr_gemv<double, int>(n, 0.5, start.data(), column.data(), value.data(), x.data(),
                                      0.25, y.data());
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += y[i] * (i % 7);
    std::printf("%.9f\n", sum);
}
