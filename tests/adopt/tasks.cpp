#include "kernels.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <not/installed.h>
#include <span>
#include <vector>

using real = double;
constexpr int WIDTH = 64;
int calls = 0;

// The inner product.
double dot(std::vector<double> const& x, std::vector<double> const& y) {
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
}

void relu(std::vector<float> const& x, std::vector<float>& out) {
    for (size_t i = 0; i < x.size(); i++) out[i] = positive(x[i]);
}

void gemm(std::vector<float> const& A, std::vector<float> const& B, std::vector<float>& C,
          size_t m, size_t n, size_t k) {
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t l = 0; l < k; l++) sum += A[i * k + l] * B[l * n + j];
            C[i * n + j] = sum;
        }
}

std::vector<float> prefix_sum(std::vector<float> const& x) {
    std::vector<float> sums(x.size());
    float sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        sum += x[i];
        sums[i] = sum;
    }
    return sums;
}

/* Five points; the border stays as it is. */
void jacobi(std::vector<real> const& grid, std::vector<real>& next, int rows, int cols) {
    for (int i = 1; i < rows - 1; ++i)
        for (int j = 1; j < cols - 1; ++j)
            next[i * cols + j] = 0.25 * (grid[(i - 1) * cols + j] + grid[(i + 1) * cols + j] +
                                         grid[i * cols + j - 1] + grid[i * cols + j + 1]);
}

int count_above(std::span<const float> x, float limit) {
    int count = 0;
    for (float each : x) count += each > limit;
    return count;
}

void transpose(const float* A, float* B, int m, int n) {
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) B[j * m + i] = A[i * n + j];
}

void convolve(const std::vector<float>& x, const std::vector<float>& w, std::vector<float>& out) {
    for (size_t i = 0; i < x.size() - w.size() + 1; ++i) {
        float sum = 0;
        for (size_t j = 0; j < w.size(); ++j) sum += x[i + j] * w[j];
        out[i] = sum;
    }
}

void sort_ascending(std::vector<int>& x) { std::sort(x.begin(), x.end()); }

namespace image {
void gain(std::span<float> pixels, std::array<float, 4> const& by) {
    const size_t count = pixels.size() / 4;
    for (size_t i = 0; i < count; ++i)
        for (int c = 0; c < 4; ++c) pixels[4 * i + c] *= by[c];
}

struct Filters {
    int unused = 0;
    static void rows(const float in[][WIDTH], float out[][WIDTH], int count) {
        for (int i = 0; i < count; ++i)
            for (int j = 0; j < WIDTH; ++j) out[i][j] = in[i][j] - in[i][(j + 1) % WIDTH];
    }
};
}  // namespace image

template <class T>
T largest(const std::vector<T>& x) {
    T found = x[0];
    for (const T& each : x) found = std::max(found, each);
    return found;
}

void mark(const std::vector<float>& x, std::vector<bool>& marks, float limit) {
    for (size_t i = 0; i < x.size(); ++i) marks[i] = std::fabs(x[i]) > limit;
}

void says(const float* x, int n) {
    for (int i = 0; i < n; ++i) std::printf("%f", x[i]);
}
void counts(float* x, int n) {
    ++calls;
    for (int i = 0; i < n; ++i) x[i] = 0;
}
void rows_apart(float** rows, int n) { rows[0][0] = n; }
void nested(std::vector<std::vector<float>>& rows) { rows[0][0] = 1; }
float twice(float* x, int n) { return x[n - 1]; }
double twice(double* x, int n) { return x[n - 1]; }
struct Model {
    float weight;
    float apply(const float* x, int n) { return x[n - 1] * weight; }
};

int main() {
    std::puts("not needed");
    return 0;
}
