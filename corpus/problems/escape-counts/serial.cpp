// count[i, j] = rounds of z = z^2 + c until |z| > 2, at most limit; c = (re[j], im[i]) / 4096, all in integers.
extern "C" void escape_counts(const int* re, const int* im, int* count, int rows, int cols, int limit) {
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < cols; ++j) {
            int x = 0, y = 0, k = 0;
            for (; k < limit; ++k) {
                const int xx = x * x, yy = y * y;
                if (xx + yy > 4 << 24) break;
                y = ((x * y) >> 11) + im[i];
                x = ((xx - yy) >> 12) + re[j];
            }
            count[(long)i * cols + j] = k;
        }
    }
}
