// The front of a crystal that grows into a cold melt (phase field, fourfold anisotropy). phase: 1 solid, 0 melt;
// heat: 0 cold, 1 at the melting point. Explicit steps of dt, cells of width 1, no flow through the edges.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

struct Front {
    double gx, gy;            // gradient of the phase
    double stiffness, twist;  // squared width of the front, and its product with the change by direction
};

static Front front_at(double gx, double gy, double strength) {
    const double xx = gx * gx, yy = gy * gy, length = (xx + yy) * (xx + yy) + 1e-8;
    const double width = 1 - 3 * strength + 4 * strength * (xx * xx + yy * yy) / length;
    const double change = -16 * strength * gx * gy * (xx - yy) / length;
    return {gx, gy, width * width, width * change};
}

extern "C" void crystal_front(const double* phase0, const double* heat0, double* phase, double* heat, double strength,
                              double drive, double latent, double dt, int ny, int nx, int steps) {
    auto cell = [&](int y, int x) {
        return (size_t)std::clamp(y, 0, ny - 1) * nx + std::clamp(x, 0, nx - 1);
    };
    auto laplacian = [&](const std::vector<double>& f, int y, int x) {
        return f[cell(y, x - 1)] + f[cell(y, x + 1)] + f[cell(y - 1, x)] + f[cell(y + 1, x)] - 4 * f[cell(y, x)];
    };
    const size_t cells = (size_t)ny * nx;
    std::vector<double> p(phase0, phase0 + cells), q(cells), t(heat0, heat0 + cells), u(cells);
    std::vector<Front> front(cells);
    for (int step = 0; step < steps; ++step) {
        for (int y = 0; y < ny; ++y) {
            for (int x = 0; x < nx; ++x) {
                const double gx = 0.5 * (p[cell(y, x + 1)] - p[cell(y, x - 1)]);
                const double gy = 0.5 * (p[cell(y + 1, x)] - p[cell(y - 1, x)]);
                front[cell(y, x)] = front_at(gx, gy, strength);
            }
        }
        for (int y = 0; y < ny; ++y) {
            for (int x = 0; x < nx; ++x) {
                const size_t i = cell(y, x);
                const Front &w = front[cell(y, x - 1)], &e = front[cell(y, x + 1)];
                const Front &n = front[cell(y - 1, x)], &s = front[cell(y + 1, x)];
                const double turned = 0.5 * (s.twist * s.gx - n.twist * n.gx) - 0.5 * (e.twist * e.gy - w.twist * w.gy);
                const double along = 0.5 * (e.stiffness - w.stiffness) * front[i].gx +
                                     0.5 * (s.stiffness - n.stiffness) * front[i].gy;
                const double cold = drive / M_PI * std::atan(10 * (1 - t[i]));
                const double push = p[i] * (1 - p[i]) * (p[i] - 0.5 + cold);
                const double grown = dt * (turned + along + front[i].stiffness * laplacian(p, y, x) + 4 * push);
                q[i] = p[i] + grown;
                u[i] = t[i] + dt * laplacian(t, y, x) + latent * grown;
            }
        }
        p.swap(q);
        t.swap(u);
    }
    std::copy(p.begin(), p.end(), phase);
    std::copy(t.begin(), t.end(), heat);
}
