#include <cmath>

// loss[r] = log(sum over c of exp(x[r][c])) - x[r][label[r]], with the maximum taken out of the sum.
extern "C" void cross_entropy(const float* x, const int* label, float* loss, int rows, int cols) {
    for (int r = 0; r < rows; ++r) {
        const float* a = x + (long long)r * cols;
        float top = a[0];
        for (int c = 1; c < cols; ++c) top = a[c] > top ? a[c] : top;
        float sum = 0.0f;
        for (int c = 0; c < cols; ++c) sum += std::exp(a[c] - top);
        loss[r] = std::log(sum) + (top - a[label[r]]);
    }
}
