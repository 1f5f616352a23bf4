// moments[0] = mean of x[0..n-1], moments[1] = its variance; both added up in double precision.
extern "C" void mean_variance(const float* x, float* moments, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += x[i];
    }
    const double mean = sum / n;
    double squares = 0.0;
    for (int i = 0; i < n; ++i) {
        const double d = x[i] - mean;
        squares += d * d;
    }
    moments[0] = static_cast<float>(mean);
    moments[1] = static_cast<float>(squares / n);
}
