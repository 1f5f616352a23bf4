#include <cmath>
#include <cstdlib>

#define NXP (nx + 2)
#define P(i, j) p[(j) * NXP + (i)]
#define RHS(i, j) rhs[(j) * NXP + (i)]
#define FOR_EACH_CELL(i, j) \
    for (int j = 1; j <= ny; ++j) \
        for (int i = 1; i <= nx; ++i)

/* Sweeps until the residual falls below eps; returns the number of sweeps. */
int relaxPressure(double *p, const double *rhs, int nx, int ny, double h, double omega, double eps,
                  int maxSweeps) {
    int sweeps = 0;
    double worst;
    const double h2 = h * h;
    do {
        worst = 0.0;
        for (int colour = 0; colour < 2; ++colour) {
            FOR_EACH_CELL(i, j) {
                if (((i + j) & 1) != colour) continue;
                const double r =
                    0.25 * (P(i - 1, j) + P(i + 1, j) + P(i, j - 1) + P(i, j + 1) - h2 * RHS(i, j)) - P(i, j);
                P(i, j) += omega * r;
                if (fabs(r) > worst) worst = fabs(r);
            }
        }
        ++sweeps;
    } while (worst > eps && sweeps < maxSweeps);
    return sweeps;
}
