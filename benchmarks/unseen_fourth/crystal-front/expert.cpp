// A band of rows per thread, one barrier per step: the front of three rows rolls along with the update, rows at a
// band's edge are made twice. Fields keep a copy of their edge beside each row, so that rows are vectors.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

// math.h offers it only under -ffast-math; the vector form is the same one.
#pragma omp declare simd notinbranch
extern "C" double atan(double) noexcept;

namespace {
struct Front {  // of one row, an edge at both ends: gradient, squared width, the twisted gradient
    std::vector<double> gx, gy, stiffness, tx, ty;
    explicit Front(int nx) : gx(nx + 2), gy(nx + 2), stiffness(nx + 2), tx(nx + 2), ty(nx + 2) {}

    void make(const double* __restrict above, const double* __restrict here, const double* __restrict below, int nx,
              double strength) {
        double *__restrict px = gx.data(), *__restrict py = gy.data(), *__restrict k = stiffness.data();
        double *__restrict qx = tx.data(), *__restrict qy = ty.data();
#pragma omp simd
        for (int x = 1; x <= nx; ++x) {
            const double a = 0.5 * (here[x + 1] - here[x - 1]), b = 0.5 * (below[x] - above[x]);
            const double xx = a * a, yy = b * b, scale = 1 / ((xx + yy) * (xx + yy) + 1e-8);
            const double width = 1 - 3 * strength + 4 * strength * (xx * xx + yy * yy) * scale;
            const double twist = width * (-16 * strength * a * b * (xx - yy) * scale);
            px[x] = a;
            py[x] = b;
            k[x] = width * width;
            qx[x] = twist * a;
            qy[x] = twist * b;
        }
        for (std::vector<double>* f : {&stiffness, &ty}) {
            (*f)[0] = (*f)[1];
            (*f)[nx + 1] = (*f)[nx];
        }
    }
};
}  // namespace

extern "C" void crystal_front(const double* __restrict phase0, const double* __restrict heat0, double* __restrict phase,
                              double* __restrict heat, double strength, double drive, double latent, double dt, int ny,
                              int nx, int steps) {
    const size_t line = nx + 2;
    std::vector<double> field[4];  // phase, heat; the same of the next step
    for (auto& f : field) f.resize(ny * line);
    const double cool = drive / M_PI;
#pragma omp parallel num_threads(std::min(omp_get_max_threads(), ny))
    {
        const int team = omp_get_num_threads(), id = omp_get_thread_num();
        const int begin = (int)((long long)ny * id / team), end = (int)((long long)ny * (id + 1) / team);
        auto put_edges = [&](double* row) {
            row[0] = row[1];
            row[nx + 1] = row[nx];
        };
        for (int y = begin; y < end; ++y) {
            std::copy(phase0 + (size_t)y * nx, phase0 + (size_t)(y + 1) * nx, &field[0][y * line + 1]);
            std::copy(heat0 + (size_t)y * nx, heat0 + (size_t)(y + 1) * nx, &field[1][y * line + 1]);
            put_edges(&field[0][y * line]);
            put_edges(&field[1][y * line]);
        }
        Front rolling[3] = {Front(nx), Front(nx), Front(nx)};
#pragma omp barrier
        for (int step = 0; step < steps; ++step) {
            const int old = step % 2 * 2;
            auto row = [&](int which, int y) { return &field[which][std::clamp(y, 0, ny - 1) * line]; };
            auto front = [&](int y) -> Front& { return rolling[std::clamp(y, 0, ny - 1) % 3]; };
            auto make = [&](int y) {
                if (y >= 0 && y < ny) front(y).make(row(old, y - 1), row(old, y), row(old, y + 1), nx, strength);
            };
            if (begin < end) {
                make(begin - 1);
                make(begin);
            }
            for (int y = begin; y < end; ++y) {
                make(y + 1);
                const Front &above = front(y - 1), &here = front(y), &below = front(y + 1);
                const double *__restrict p = row(old, y), *__restrict t = row(old + 1, y);
                const double *__restrict pn = row(old, y - 1), *__restrict ps = row(old, y + 1);
                const double *__restrict tn = row(old + 1, y - 1), *__restrict ts = row(old + 1, y + 1);
                double *__restrict q = row(2 - old, y), *__restrict u = row(3 - old, y);
                const double *gx = here.gx.data(), *gy = here.gy.data(), *k = here.stiffness.data(), *ty = here.ty.data();
                const double *kn = above.stiffness.data(), *ks = below.stiffness.data();
                const double *txn = above.tx.data(), *txs = below.tx.data();
#pragma omp simd
                for (int x = 1; x <= nx; ++x) {
                    const double now = p[x], warm = t[x];
                    const double turned = 0.5 * (txs[x] - txn[x]) - 0.5 * (ty[x + 1] - ty[x - 1]);
                    const double along = 0.5 * (k[x + 1] - k[x - 1]) * gx[x] + 0.5 * (ks[x] - kn[x]) * gy[x];
                    const double cold = cool * atan(10 * (1 - warm));
                    const double push = now * (1 - now) * (now - 0.5 + cold);
                    const double curved = p[x - 1] + p[x + 1] + pn[x] + ps[x] - 4 * now;
                    const double grown = dt * (turned + along + k[x] * curved + 4 * push);
                    q[x] = now + grown;
                    u[x] = warm + dt * (t[x - 1] + t[x + 1] + tn[x] + ts[x] - 4 * warm) + latent * grown;
                }
                put_edges(q);
                put_edges(u);
            }
#pragma omp barrier
        }
        const int last = steps % 2 * 2;
        for (int y = begin; y < end; ++y) {
            const double *p = &field[last][y * line + 1], *t = &field[last + 1][y * line + 1];
            std::copy(p, p + nx, phase + (size_t)y * nx);
            std::copy(t, t + nx, heat + (size_t)y * nx);
        }
    }
}
