void batchnorm_train(const float *x, float *y, const float *gamma, const float *beta, float *running_mean,
                     float *running_var, int n, int c, int hw, float momentum, float eps) {
    const long count = (long)n * hw;
    if (count == 0) return;
    double mean, var;
#pragma omp parallel for schedule(static)
    for (int ch = 0; ch < c; ch++) {
        mean = var = 0.0;
        for (int b = 0; b < n; b++)
            for (int p = 0; p < hw; p++) mean += x[((long)b * c + ch) * hw + p];
        mean /= count;
        for (int b = 0; b < n; b++)
            for (int p = 0; p < hw; p++) {
                const double d = x[((long)b * c + ch) * hw + p] - mean;
                var += d * d;
            }
        var /= count;
        const double inv = 1.0 / sqrt(var + eps);
        for (int b = 0; b < n; b++)
            for (int p = 0; p < hw; p++) {
                const long at = ((long)b * c + ch) * hw + p;
                y[at] = (float)((x[at] - mean) * inv * gamma[ch] + beta[ch]);
            }
        running_mean[ch] = (1.0f - momentum) * running_mean[ch] + momentum * (float)mean;
        running_var[ch] = (1.0f - momentum) * running_var[ch] + momentum * (float)var;
    }
}
