#include <algorithm>

size_t Run(const std::vector<int32_t>& left, const std::vector<int32_t>& right,
           std::vector<uint32_t>& left_rows, std::vector<uint32_t>& right_rows) {
    const long n = static_cast<long>(left.size());
    std::vector<size_t> low(n), at(n + 1, 0);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) {
        const auto found = std::equal_range(right.begin(), right.end(), left[i]);
        low[i] = found.first - right.begin();
        at[i + 1] = found.second - found.first;
    }
    for (long i = 0; i < n; ++i) at[i + 1] += at[i];
    left_rows.resize(at[n] + 1);
    right_rows.resize(at[n] + 1);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i)
        for (size_t k = at[i]; k < at[i + 1]; ++k) {
            left_rows[k] = static_cast<uint32_t>(i);
            right_rows[k] = static_cast<uint32_t>(low[i] + k - at[i]);
        }
    return at[n];
}
