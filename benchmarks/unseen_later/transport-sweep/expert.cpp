// Angles are the lanes of vectors. Tiles of cells on a diagonal of the grid are independent: threads take them, and
// what flows between tiles waits in two arrays by row and by column. A tile adds to its own cells only.
#include <algorithm>
#include <cstddef>
#include <vector>

namespace {
constexpr int kTile = 32, kWide = 8;

struct alignas(64) Lanes {
    double at[kWide];
};

// One tile for one block of angles.
void cells(const double* sigma, const double* source, double* flux, const Lanes& mu, const Lanes& eta,
           const Lanes& weight, Lanes* from_x, Lanes* from_y, int i0, int i1, int j0, int j1, bool right, bool up,
           int nx, int ny) {
    for (int row = j0; row < j1; ++row) {
        const int j = up ? row : ny - 1 - row;
        Lanes x = from_x[row];
        for (int col = i0; col < i1; ++col) {
            const int i = right ? col : nx - 1 - col;
            const size_t cell = (size_t)j * nx + i;
            const double q = source[cell], s = sigma[cell];
            Lanes& y = from_y[col];
            double sum = 0.0;
#pragma omp simd reduction(+ : sum)
            for (int t = 0; t < kWide; ++t) {
                const double centre =
                    (q + mu.at[t] * x.at[t] + eta.at[t] * y.at[t]) / (s + mu.at[t] + eta.at[t]);
                const double to_x = 2.0 * centre - x.at[t], to_y = 2.0 * centre - y.at[t];
                x.at[t] = to_x > 0.0 ? to_x : 0.0;
                y.at[t] = to_y > 0.0 ? to_y : 0.0;
                sum += weight.at[t] * centre;
            }
            flux[cell] += sum;
        }
        from_x[row] = x;
    }
}
}  // namespace

extern "C" void transport_sweep(const double* sigma, const double* source, const double* mu, const double* eta,
                                const double* weight, double* flux, double h, int nx, int ny, int angles) {
    const int blocks = (angles + kWide - 1) / kWide;
    const int wide = (nx + kTile - 1) / kTile, tall = (ny + kTile - 1) / kTile;
    std::vector<Lanes> across_x(blocks), across_y(blocks), share(blocks);
    for (int a = 0; a < blocks * kWide; ++a) {  // angles that fill the last block weigh nothing
        const int own = std::min(a, angles - 1);
        across_x[a / kWide].at[a % kWide] = 2.0 * mu[own] / h;
        across_y[a / kWide].at[a % kWide] = 2.0 * eta[own] / h;
        share[a / kWide].at[a % kWide] = a < angles ? weight[own] : 0.0;
    }
    std::vector<Lanes> from_x((size_t)blocks * ny), from_y((size_t)blocks * nx);
    std::fill(flux, flux + (size_t)nx * ny, 0.0);
#pragma omp parallel
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
#pragma omp for schedule(static)
        for (int b = 0; b < blocks; ++b) {
            std::fill(&from_x[(size_t)b * ny], &from_x[(size_t)b * ny] + ny, Lanes{});
            std::fill(&from_y[(size_t)b * nx], &from_y[(size_t)b * nx] + nx, Lanes{});
        }
        for (int diagonal = 0; diagonal < wide + tall - 1; ++diagonal) {
            const int first = std::max(0, diagonal - tall + 1), last = std::min(wide - 1, diagonal);
#pragma omp for schedule(dynamic)
            for (int t = first; t <= last; ++t) {
                const int i0 = t * kTile, j0 = (diagonal - t) * kTile;
                for (int b = 0; b < blocks; ++b) {
                    cells(sigma, source, flux, across_x[b], across_y[b], share[b], &from_x[(size_t)b * ny],
                          &from_y[(size_t)b * nx], i0, std::min(nx, i0 + kTile), j0, std::min(ny, j0 + kTile),
                          quadrant % 2 == 0, quadrant / 2 == 0, nx, ny);
                }
            }
        }
    }
}
