int relaxPressure(double *p, const double *rhs, int nx, int ny, double h, double omega, double eps,
                  int maxSweeps) {
    const long pitch = nx + 2;
    const double h2 = h * h;
    int sweeps = 0;
    double worst;
    do {
        worst = 0.0;
        for (int colour = 0; colour < 2; ++colour) {
#pragma omp parallel for schedule(static) reduction(max : worst)
            for (int j = 1; j <= ny; ++j) {
                double *row = p + j * pitch;
                for (int i = 1 + ((j + colour) & 1); i <= nx; i += 2) {
                    const double r = 0.25 * (row[i - 1] + row[i + 1] + row[i - pitch] + row[i + pitch] -
                                             h2 * rhs[j * pitch + i]) -
                                     row[i];
                    row[i] += omega * r;
                    worst = std::fmax(worst, std::fabs(r));
                }
            }
        }
        ++sweeps;
    } while (worst > eps && sweeps < maxSweeps);
    return sweeps;
}
