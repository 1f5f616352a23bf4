// Roads go to the threads. Speeds carry a copy of the first car behind the last, so that loops have no remainder
// and are vectors; powers are products; a gap needs no second array.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace {
void follow(const double* __restrict v, const double* __restrict s, double* __restrict next, double dt, int cars) {
    const double headway = 1.5, jam = 2.0, accelerate = 1.2, slow = -8.0;
    const double per_wanted = 1.0 / 33.0, per_brake = 1.0 / (2.0 * std::sqrt(1.2 * 2.0));
#pragma omp simd
    for (int i = 0; i < cars; ++i) {
        const double now = v[i], wish = now * headway + now * (now - v[i + 1]) * per_brake;
        const double free = now * per_wanted, square = free * free;
        const double near = (jam + (wish > 0.0 ? wish : 0.0)) / (s[i] > 0.5 ? s[i] : 0.5);
        const double a = accelerate * (1.0 - square * square - near * near);
        const double moved = now + dt * (a > slow ? a : slow);
        next[i] = moved > 0.0 ? moved : 0.0;
    }
}

void drive(const double* __restrict v, double* __restrict s, double dt, int cars) {
#pragma omp simd
    for (int i = 0; i < cars; ++i) s[i] += dt * (v[i + 1] - v[i]);
}
}  // namespace

extern "C" void traffic_rings(double* gap, double* speed, double dt, int rings, int cars, int steps) {
#pragma omp parallel
    {
        std::vector<double> a(cars + 1), b(cars + 1);
        double *v = a.data(), *next = b.data();
#pragma omp for schedule(static)
        for (int r = 0; r < rings; ++r) {
            double *own = speed + (size_t)r * cars, *s = gap + (size_t)r * cars;
            std::copy(own, own + cars, v);
            v[cars] = v[0];
            for (int step = 0; step < steps; ++step) {
                follow(v, s, next, dt, cars);
                next[cars] = next[0];
                drive(next, s, dt, cars);
                std::swap(v, next);
            }
            std::copy(v, v + cars, own);
        }
    }
}
