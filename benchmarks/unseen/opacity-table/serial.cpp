// Rosseland opacities of a star's cells from a table over log T and log R, R = rho / (T / 1e6)^3: bilinear
// between the grid points, and the edge's value outside.
#include <cmath>

struct OpacityTable {
    const float* log_kappa;  // [temperatures][densities]
    int temperatures, densities;
    float t0, dt;  // first log T and spacing
    float r0, dr;  // first log R and spacing

    float at(float log_t, float log_r) const {
        float u = (log_t - t0) / dt, v = (log_r - r0) / dr;
        if (u < 0) u = 0;
        if (u > temperatures - 1) u = temperatures - 1;
        if (v < 0) v = 0;
        if (v > densities - 1) v = densities - 1;
        int i = (int)u, j = (int)v;
        if (i > temperatures - 2) i = temperatures - 2;
        if (j > densities - 2) j = densities - 2;
        const float fu = u - i, fv = v - j;
        const float* low = log_kappa + i * densities + j;
        const float* high = low + densities;
        return (1 - fu) * ((1 - fv) * low[0] + fv * low[1]) + fu * ((1 - fv) * high[0] + fv * high[1]);
    }
};

extern "C" void opacities(const float* log_temperature, const float* log_rho, const float* table, float* kappa, float t0,
                          float dt, float r0, float dr, int cells, int temperatures, int densities) {
    const OpacityTable opacity = {table, temperatures, densities, t0, dt, r0, dr};
    for (int c = 0; c < cells; ++c) {
        const float log_t = log_temperature[c], log_r = log_rho[c] - 3 * (log_t - 6);
        kappa[c] = std::pow(10.0f, opacity.at(log_t, log_r));
    }
}
