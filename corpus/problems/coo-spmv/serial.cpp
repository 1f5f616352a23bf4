// y[row[e]] += value[e] * x[column[e]] for all triples e, which ascend by row; y starts at zero.
extern "C" void coo_spmv(const int* row, const int* column, const float* value, const float* x, float* y,
                         int rows, int count) {
    for (int i = 0; i < rows; ++i) y[i] = 0.0f;
    for (int e = 0; e < count; ++e) y[row[e]] += value[e] * x[column[e]];
}
