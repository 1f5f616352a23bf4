// y[r] = sum over c of w[r][c] * x[c], in 32 bits.
extern "C" void int8_gemv(const signed char* w, const signed char* x, int* y, int rows, int cols) {
    for (int r = 0; r < rows; ++r) {
        const signed char* row = w + (long long)r * cols;
        int sum = 0;
        for (int c = 0; c < cols; ++c) sum += row[c] * x[c];
        y[r] = sum;
    }
}
