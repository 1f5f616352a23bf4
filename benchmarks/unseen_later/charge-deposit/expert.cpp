// A grid per thread; places and shares of a block of particles are computed by vectors, then added cell by cell: a
// cell keeps its four corners side by side, so that a particle is one vector added to one line of cache.
#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <vector>

struct Particle {
    float x, y, charge;
};

namespace {
constexpr int kBlock = 256;

struct alignas(32) Corners {
    double at[4];
};

void add(const Particle* __restrict p, Corners* __restrict cells, int count, int nx, int ny) {
    alignas(64) int cell[kBlock];
    alignas(64) double fx[kBlock], fy[kBlock], charge[kBlock];
#pragma omp simd
    for (int t = 0; t < count; ++t) {
        const int x = (int)p[t].x, y = (int)p[t].y;
        const int i = x < nx - 2 ? x : nx - 2, j = y < ny - 2 ? y : ny - 2;
        cell[t] = j * (nx - 1) + i;
        fx[t] = (double)p[t].x - i;
        fy[t] = (double)p[t].y - j;
        charge[t] = p[t].charge;
    }
    for (int t = 0; t < count; ++t) {
        const double low = charge[t] * (1.0 - fy[t]), high = charge[t] * fy[t];
        const double share[4] = {low * (1.0 - fx[t]), low * fx[t], high * (1.0 - fx[t]), high * fx[t]};
        double* at = cells[cell[t]].at;
        for (int q = 0; q < 4; ++q) at[q] += share[q];
    }
}
}  // namespace

extern "C" void charge_deposit(const Particle* particles, double* density, int count, int nx, int ny) {
    const int cells = (nx - 1) * (ny - 1);
    const int most = std::max(1, std::min(omp_get_max_threads(), count / 4096 + 1));
    std::vector<Corners> all((size_t)most * cells, Corners{});
#pragma omp parallel num_threads(most)
    {
        Corners* own = all.data() + (size_t)omp_get_thread_num() * cells;
#pragma omp for schedule(static)
        for (int first = 0; first < count; first += kBlock) {
            add(particles + first, own, std::min(kBlock, count - first), nx, ny);
        }
#pragma omp for schedule(static)
        for (int j = 0; j < ny; ++j) {
            for (int i = 0; i < nx; ++i) {
                double sum = 0.0;
                for (int t = 0; t < most; ++t) {
                    const Corners* grid = all.data() + (size_t)t * cells;
                    if (i < nx - 1 && j < ny - 1) sum += grid[j * (nx - 1) + i].at[0];
                    if (i > 0 && j < ny - 1) sum += grid[j * (nx - 1) + i - 1].at[1];
                    if (i < nx - 1 && j > 0) sum += grid[(j - 1) * (nx - 1) + i].at[2];
                    if (i > 0 && j > 0) sum += grid[(j - 1) * (nx - 1) + i - 1].at[3];
                }
                density[(size_t)j * nx + i] = sum;
            }
        }
    }
}
