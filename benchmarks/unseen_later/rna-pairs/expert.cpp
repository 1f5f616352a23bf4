// The table is kept a second time by columns, so that both halves of a split lie in a row: the best split is a vector
// maximum of sums of 16 bits. Pieces of one length are independent.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {
template <class Number>
void fold(const unsigned char* bases, int* most, int n) {
    // bit b of pairs[a]: a and b pair
    constexpr unsigned pairs[4] = {1u << 3, 1u << 2, 1u << 1 | 1u << 3, 1u << 0 | 1u << 2};
    std::vector<Number> by_row((size_t)n * n, 0), by_column((size_t)n * n, 0);
    Number *rows = by_row.data(), *columns = by_column.data();
#pragma omp parallel
    {
        for (int length = 5; length <= n; ++length) {
#pragma omp for schedule(static)
            for (int i = 0; i <= n - length; ++i) {
                const int j = i + length - 1;
                const Number* __restrict left = rows + (size_t)i * n;           // pieces i..k
                const Number* __restrict right = columns + (size_t)j * n + 1;  // pieces k + 1..j
                Number best = std::max(right[i], left[j - 1]);
                if (pairs[bases[i]] >> bases[j] & 1) {
                    best = std::max(best, (Number)(rows[(size_t)(i + 1) * n + j - 1] + 1));
                }
#pragma omp simd reduction(max : best)
                for (int k = i + 1; k < j - 1; ++k) {
                    const Number sum = (Number)(left[k] + right[k]);
                    best = sum > best ? sum : best;
                }
                rows[(size_t)i * n + j] = columns[(size_t)j * n + i] = best;
            }
        }
#pragma omp for schedule(static)
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) most[(size_t)i * n + j] = rows[(size_t)i * n + j];
        }
    }
}
}  // namespace

extern "C" void rna_pairs(const unsigned char* bases, int* most, int n) {
    if (n < 32768) fold<int16_t>(bases, most, n);
    else fold<int32_t>(bases, most, n);
}
