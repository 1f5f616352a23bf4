static const int vx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int vy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const double weight[9] = {4. / 9,  1. / 9,  1. / 9,  1. / 9, 1. / 9,
                                 1. / 36, 1. / 36, 1. / 36, 1. / 36};

void stream_and_collide(double *f_new, const double *f_old, int nx, int ny, double omega) {
#pragma omp parallel for schedule(static)
    for (int y = 0; y < ny; ++y) {
        for (int x = 0; x < nx; ++x) {
            double f[9], rho = 0, ux = 0, uy = 0;
            for (int d = 0; d < 9; ++d) {
                const int xs = (x + vx[d] + nx) % nx, ys = (y - vy[d] + ny) % ny;
                f[d] = f_old[9 * (ys * nx + xs) + d];
                rho += f[d];
                ux += f[d] * vx[d];
                uy += f[d] * vy[d];
            }
            ux /= rho;
            uy /= rho;
            const double square = 1.5 * (ux * ux + uy * uy);
            for (int d = 0; d < 9; ++d) {
                const double cu = vx[d] * ux + vy[d] * uy;
                const double eq = weight[d] * rho * (1.0 + 3.0 * cu + 4.5 * cu * cu - square);
                f_new[9 * (y * nx + x) + d] = f[d] + omega * (eq - f[d]);
            }
        }
    }
}
