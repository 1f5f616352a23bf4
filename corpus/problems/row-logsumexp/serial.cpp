#include <cmath>
#include <cstddef>

// out[r] = log(exp(x[r][0]) + .. + exp(x[r][cols - 1])), shifted by the row's maximum.
extern "C" void row_logsumexp(const float* x, float* out, int rows, int cols) {
    for (int r = 0; r < rows; ++r) {
        const float* row = x + static_cast<size_t>(r) * cols;
        float top = row[0];
        for (int c = 1; c < cols; ++c) {
            top = row[c] > top ? row[c] : top;
        }
        float sum = 0.0f;
        for (int c = 0; c < cols; ++c) {
            sum += std::exp(row[c] - top);
        }
        out[r] = top + std::log(sum);
    }
}
