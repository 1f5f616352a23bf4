double realSpaceEnergy(const std::vector<Vec3>& position, const std::vector<double>& charge, double box,
                       double alpha, double cutoff) {
    const long n = static_cast<long>(position.size());
    const double cutoff2 = cutoff * cutoff;
    double energy = 0;
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : energy)
    for (long i = 0; i < n; ++i) {
        double mine = 0;
        for (long j = i + 1; j < n; ++j) {
            double r2 = 0;
            for (int d = 0; d < 3; ++d) {
                const double delta = position[i][d] - position[j][d];
                const double near = delta - box * std::round(delta / box);
                r2 += near * near;
            }
            if (r2 >= cutoff2 || r2 == 0) continue;
            const double r = std::sqrt(r2);
            mine += charge[j] * std::erfc(alpha * r) / r;
        }
        energy += charge[i] * mine;
    }
    return energy;
}
