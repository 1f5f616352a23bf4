void integrateAll(const double* frequency, int count, double upper, double tol, double* result) {
#pragma omp parallel for schedule(dynamic, 8)
    for (int i = 0; i < count; ++i) {
        const double w = frequency[i];
        result[i] = adaptive([w](double x) { return std::cos(w * x); }, 0.0, upper, tol);
    }
}
