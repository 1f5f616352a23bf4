// The inner product of two vectors.
#include <cstddef>
#include <algorithm>
#include <vector>

double dot(const double* x, const double* y, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

extern "C" double dot_entry(const double* x, const double* y, int n) {
    const auto returned = dot(x, y, n);
    return returned;
}
