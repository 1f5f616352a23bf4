void simulate_plate(std::vector<double>& u, std::size_t rows, std::size_t cols, int steps, double r) {
    std::vector<double> copy(u.begin(), u.end());
    double *now = u.data(), *next = copy.data();
    for (int t = 0; t < steps; ++t) {
#pragma omp parallel for schedule(static)
        for (std::size_t i = 1; i < (rows > 1 ? rows - 2 : 0); ++i) {
            const double *up = now + (i - 1) * cols, *mid = up + cols, *down = mid + cols;
            double* out = next + i * cols;
            for (std::size_t j = 1; j + 1 < cols; ++j)
                out[j] = mid[j] + r * (up[j] + down[j] + mid[j - 1] + mid[j + 1] - 4.0 * mid[j]);
        }
        std::swap(now, next);
    }
    if (now != u.data()) std::copy(copy.begin(), copy.end(), u.data());
}
