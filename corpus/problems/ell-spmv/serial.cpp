// y = A x: row i holds value[i*width + k] in column[i*width + k]; column -1 marks an empty slot.
extern "C" void ell_spmv(const int* column, const float* value, const float* x, float* y, int rows,
                         int width) {
    for (int i = 0; i < rows; ++i) {
        const long base = (long)i * width;
        float sum = 0.0f;
        for (int k = 0; k < width; ++k) {
            const int c = column[base + k];
            if (c >= 0) sum += value[base + k] * x[c];
        }
        y[i] = sum;
    }
}
