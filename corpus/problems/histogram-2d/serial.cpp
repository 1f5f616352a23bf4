// counts[256 * j + i] = how many points lie in cell (i, j) of the unit square; others do not count.
extern "C" void histogram_2d(const float* x, const float* y, int* counts, int n) {
    for (int c = 0; c < 65536; ++c) {
        counts[c] = 0;
    }
    for (int p = 0; p < n; ++p) {
        if (x[p] >= 0.0f && x[p] < 1.0f && y[p] >= 0.0f && y[p] < 1.0f) {
            const int i = static_cast<int>(x[p] * 256.0f);
            const int j = static_cast<int>(y[p] * 256.0f);
            ++counts[256 * j + i];
        }
    }
}
