// y = A x: row i of A has value[k] in column[k] for start[i] <= k < start[i + 1].
extern "C" void skewed_spmv(const int* start, const int* column, const float* value, const float* x,
                            float* y, int rows, int nonzeros) {
    (void)nonzeros;
    for (int i = 0; i < rows; ++i) {
        float sum = 0.0f;
        for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}
