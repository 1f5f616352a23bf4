// D2Q9 lattice Boltzmann, BGK collision, periodic box
#include <cmath>
#include <cstdio>
#include <vector>

#define NDIR 9
#define IDX(x, y) ((y) * nx + (x))
#define FIDX(x, y, d) (NDIR * IDX(x, y) + (d))

typedef double real;

static const int cx[NDIR] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int cy[NDIR] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const real w[NDIR] = {4. / 9,  1. / 9,  1. / 9,  1. / 9, 1. / 9,
                             1. / 36, 1. / 36, 1. / 36, 1. / 36};

static inline real feq(int d, real rho, real ux, real uy) {
    const real cu = cx[d] * ux + cy[d] * uy;
    return w[d] * rho * (1.0 + 3.0 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy));
}

/* Pull the nine populations of a cell from its neighbours, then relax them. */
void stream_and_collide(real *f_new, const real *f_old, int nx, int ny, real omega) {
    for (int y = 0; y < ny; ++y) {
        for (int x = 0; x < nx; ++x) {
            real f[NDIR];
            real rho = 0, ux = 0, uy = 0;
            for (int d = 0; d < NDIR; ++d) {
                const int xs = (x - cx[d] + nx) % nx;
                const int ys = (y - cy[d] + ny) % ny;
                f[d] = f_old[FIDX(xs, ys, d)];
                rho += f[d];
                ux += f[d] * cx[d];
                uy += f[d] * cy[d];
            }
            ux /= rho;
            uy /= rho;
            for (int d = 0; d < NDIR; ++d)
                f_new[FIDX(x, y, d)] = f[d] + omega * (feq(d, rho, ux, uy) - f[d]);
        }
    }
}

void init_shear(std::vector<real> &f, int nx, int ny) {
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++)
            for (int d = 0; d < NDIR; d++) {
                const real ux = 0.05 * std::sin(2 * M_PI * y / ny);
                f[FIDX(x, y, d)] = feq(d, 1.0, ux, 0.0);
            }
}

void report(const std::vector<real> &f) {
    real sum = 0;
    for (real v : f) sum += v;
    std::printf("mass %.9f\n", sum);
}
