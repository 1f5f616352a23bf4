void solve_all(const Field& a, const Field& b, const Field& c, Field& d, std::size_t systems,
               std::size_t n) {
    if (n == 0) return;
    std::vector<double> cp(n);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (std::size_t s = 0; s < systems; ++s) {
            const std::size_t o = s * n;
            cp[0] = c[o] / b[o];
            d[o] /= b[o];
            for (std::size_t i = 1; i < n; ++i) {
                const double m = 1.0 / (b[o + i] - a[o + i] * cp[i - 1]);
                cp[i] = c[o + i] * m;
                d[o + i] = (d[o + i] - a[o + i] * d[o + i - 1]) * m;
            }
            for (std::size_t i = n - 1; i-- > 0;) d[o + i] -= cp[i] * d[o + i + 1];
        }
    }
}
