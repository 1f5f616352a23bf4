#include <cmath>

// y = softmax of each row of x: exp(x - maximum), divided by its sum over the row.
extern "C" void softmax_rows(const float* x, float* y, int rows, int cols) {
    for (int r = 0; r < rows; ++r) {
        const float* a = x + (long long)r * cols;
        float* b = y + (long long)r * cols;
        float top = a[0];
        for (int c = 1; c < cols; ++c) top = a[c] > top ? a[c] : top;
        float sum = 0.0f;
        for (int c = 0; c < cols; ++c) {
            b[c] = std::exp(a[c] - top);
            sum += b[c];
        }
        for (int c = 0; c < cols; ++c) b[c] /= sum;
    }
}
