// Y = A X: row i of A has value[k] in column[k] for start[i] <= k < start[i + 1]; X and Y have 32 columns.
extern "C" void spmm_narrow(const int* start, const int* column, const float* value, const float* x,
                            float* y, int rows, int nonzeros) {
    (void)nonzeros;
    for (int i = 0; i < rows; ++i) {
        float* out = y + 32L * i;
        for (int j = 0; j < 32; ++j) out[j] = 0.0f;
        for (int k = start[i]; k < start[i + 1]; ++k) {
            const float v = value[k];
            const float* from = x + 32L * column[k];
            for (int j = 0; j < 32; ++j) out[j] += v * from[j];
        }
    }
}
