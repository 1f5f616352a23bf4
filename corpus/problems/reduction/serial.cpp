// total[0] = x[0] + ... + x[n-1], added up in double precision.
extern "C" void reduction(const float* x, double* total, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += x[i];
    }
    total[0] = sum;
}
