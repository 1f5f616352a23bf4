// Discrete ordinates on a square grid of cells with side h: for each angle of each quadrant neutrons enter a cell from
// two neighbours and leave it to the two others (diamond differences; negative flows are set to 0). Nothing
// enters from outside.
#include <cstddef>
#include <vector>

static double through_cell(double source, double sigma, double across_x, double across_y, double& from_x,
                           double& from_y) {
    const double centre = (source + across_x * from_x + across_y * from_y) / (sigma + across_x + across_y);
    from_x = 2.0 * centre - from_x;
    from_y = 2.0 * centre - from_y;
    if (from_x < 0.0) from_x = 0.0;
    if (from_y < 0.0) from_y = 0.0;
    return centre;
}

static void sweep(const double* sigma, const double* source, double* flux, double mu, double eta, double weight,
                  double h, bool right, bool up, int nx, int ny) {
    std::vector<double> from_y(nx, 0.0);
    for (int row = 0; row < ny; ++row) {
        const int j = up ? row : ny - 1 - row;
        double from_x = 0.0;
        for (int col = 0; col < nx; ++col) {
            const int i = right ? col : nx - 1 - col;
            const size_t cell = (size_t)j * nx + i;
            flux[cell] += weight * through_cell(source[cell], sigma[cell], 2.0 * mu / h, 2.0 * eta / h, from_x,
                                                from_y[i]);
        }
    }
}

extern "C" void transport_sweep(const double* sigma, const double* source, const double* mu, const double* eta,
                                const double* weight, double* flux, double h, int nx, int ny, int angles) {
    for (size_t cell = 0; cell < (size_t)nx * ny; ++cell) flux[cell] = 0.0;
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
        for (int a = 0; a < angles; ++a) {
            sweep(sigma, source, flux, mu[a], eta[a], weight[a], h, quadrant % 2 == 0, quadrant / 2 == 0, nx, ny);
        }
    }
}
