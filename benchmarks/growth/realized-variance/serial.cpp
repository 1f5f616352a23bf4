// Mean and variance of the last `days` returns at each day; at the start of the series of what there is.
static double mean_of(const double* x, int count) {
    double sum = 0;
    for (int k = 0; k < count; k++) sum += x[k];
    return sum / count;
}

static double variance_of(const double* x, int count, double mean) {
    double sum = 0;
    for (int k = 0; k < count; k++) {
        const double away = x[k] - mean;
        sum += away * away;
    }
    return sum / count;
}

extern "C" void realized_variance(const double* returns, double* mean, double* variance, int days, int n) {
    for (int i = 0; i < n; i++) {
        const int first = i + 1 > days ? i + 1 - days : 0;
        const int count = i + 1 - first;
        mean[i] = mean_of(returns + first, count);
        variance[i] = variance_of(returns + first, count, mean[i]);
    }
}
