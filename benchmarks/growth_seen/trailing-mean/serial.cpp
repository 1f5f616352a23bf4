// out[i] = mean of the last w values up to x[i]; at the beginning of those that there are.
extern "C" void trailing_mean(const float* x, float* out, int n, int w) {
    for (int i = 0; i < n; ++i) {
        const int begin = i - w + 1 > 0 ? i - w + 1 : 0;
        float sum = 0.0f;
        for (int j = begin; j <= i; ++j) {
            sum += x[j];
        }
        out[i] = sum / (i - begin + 1);
    }
}
