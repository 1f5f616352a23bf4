// The sum of each column of a matrix.
extern "C" void column_sums_entry(const float* a, float* sums, int rows, int cols) {
    for (int c = 0; c < cols; ++c) {
        float sum = 0.0f;
        for (int r = 0; r < rows; ++r) sum += a[r * cols + c];
        sums[c] = sum;
    }
}
