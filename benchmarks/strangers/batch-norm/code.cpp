#include <math.h>

struct bn_shape {
    int n, c, hw;
};

#define AT(b, ch, p) (((b) * c + (ch)) * hw + (p))

static double square(double v) { return v * v; }

void batchnorm_train(const float *x, float *y, const float *gamma, const float *beta, float *running_mean,
                     float *running_var, int n, int c, int hw, float momentum, float eps) {
    int b, ch, p;
    double mean, var, inv;
    const int count = n * hw;

    if (count == 0) return;
    for (ch = 0; ch < c; ch++) {
        mean = var = 0.0;
        for (b = 0; b < n; b++)
            for (p = 0; p < hw; p++) mean += x[AT(b, ch, p)];
        mean /= count;
        for (b = 0; b < n; b++)
            for (p = 0; p < hw; p++) var += square(x[AT(b, ch, p)] - mean);
        var /= count;
        inv = 1.0 / sqrt(var + eps);
        for (b = 0; b < n; b++)
            for (p = 0; p < hw; p++)
                y[AT(b, ch, p)] = (float)((x[AT(b, ch, p)] - mean) * inv * gamma[ch] + beta[ch]);
        running_mean[ch] = (1.0f - momentum) * running_mean[ch] + momentum * (float)mean;
        running_var[ch] = (1.0f - momentum) * running_var[ch] + momentum * (float)var;
    }
}
