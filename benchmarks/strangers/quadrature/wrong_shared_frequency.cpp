void integrateAll(const double* frequency, int count, double upper, double tol, double* result) {
    double w = 0;
#pragma omp parallel for schedule(dynamic, 8)
    for (int i = 0; i < count; ++i) {
        w = frequency[i];
        result[i] = adaptive([&w](double x) { return std::exp(-x) * std::cos(w * x); }, 0.0, upper, tol);
    }
}
