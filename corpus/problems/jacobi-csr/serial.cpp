#include <vector>

// x becomes the result of `sweeps` Jacobi sweeps x[i] = (b[i] - sum of value[k] * x[column[k]]) / diagonal[i].
extern "C" void jacobi_csr(const int* start, const int* column, const float* value, const float* diagonal,
                           const float* b, float* x, int rows, int nonzeros, int sweeps) {
    (void)nonzeros;
    std::vector<float> next(rows);
    for (int s = 0; s < sweeps; ++s) {
        for (int i = 0; i < rows; ++i) {
            float sum = b[i];
            for (int k = start[i]; k < start[i + 1]; ++k) sum -= value[k] * x[column[k]];
            next[i] = sum / diagonal[i];
        }
        for (int i = 0; i < rows; ++i) x[i] = next[i];
    }
}
