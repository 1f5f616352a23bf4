// mean[c] and variance[c] of all x[b][c][i].
extern "C" void batch_norm_stats(const float* x, float* mean, float* variance, int batch, int channels, int area) {
    const float count = (float)batch * area;
    for (int c = 0; c < channels; ++c) {
        float sum = 0.0f;
        for (int b = 0; b < batch; ++b) {
            const float* a = x + ((long long)b * channels + c) * area;
            for (int i = 0; i < area; ++i) sum += a[i];
        }
        const float middle = sum / count;
        float square = 0.0f;
        for (int b = 0; b < batch; ++b) {
            const float* a = x + ((long long)b * channels + c) * area;
            for (int i = 0; i < area; ++i) square += (a[i] - middle) * (a[i] - middle);
        }
        mean[c] = middle;
        variance[c] = square / count;
    }
}
