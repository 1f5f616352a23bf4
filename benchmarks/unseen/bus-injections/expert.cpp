// Voltages become rectangular once per bus, which leaves no sine or cosine per branch. Each thread adds its
// branches to buses of its own; then the buses are summed over the threads. Atomics would cost four locked
// instructions per branch.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <omp.h>

// math.h offers these only under -ffast-math; the vector forms are the same ones.
#pragma omp declare simd notinbranch
extern "C" double sin(double) noexcept;
#pragma omp declare simd notinbranch
extern "C" double cos(double) noexcept;

namespace {
struct Pair {
    double a, b;
};
}  // namespace

extern "C" void bus_injections(const int* __restrict from, const int* __restrict to, const double* __restrict g,
                               const double* __restrict b, const double* __restrict shunt_g,
                               const double* __restrict shunt_b, const double* __restrict v,
                               const double* __restrict angle, double* __restrict p, double* __restrict q, int branches,
                               int buses) {
    const int most = std::min(omp_get_max_threads(), branches / 4096 + 1);
    const std::unique_ptr<Pair[]> voltage(new Pair[buses]), sums(new Pair[(size_t)most * buses]);
#pragma omp parallel num_threads(most)
    {
        const int threads = omp_get_num_threads();
#pragma omp for simd schedule(static)
        for (int i = 0; i < buses; ++i) voltage[i].a = v[i] * cos(angle[i]);
#pragma omp for simd schedule(static)  // a loop of its own: of one argument in one loop, g++ makes a scalar sincos
        for (int i = 0; i < buses; ++i) voltage[i].b = v[i] * sin(angle[i]);

        Pair* own = sums.get() + (size_t)omp_get_thread_num() * buses;
        std::fill(own, own + buses, Pair{0, 0});
#pragma omp for schedule(static)
        for (int e = 0; e < branches; ++e) {
            const int i = from[e], k = to[e];
            const Pair x = voltage[i], y = voltage[k];
            const double c = x.a * y.a + x.b * y.b, s = x.b * y.a - x.a * y.b;  // v v cos, v v sin
            const double xx = x.a * x.a + x.b * x.b, yy = y.a * y.a + y.b * y.b;
            own[i].a += g[e] * (xx - c) - b[e] * s;
            own[i].b += -b[e] * (xx - c) - g[e] * s;
            own[k].a += g[e] * (yy - c) + b[e] * s;
            own[k].b += -b[e] * (yy - c) + g[e] * s;
        }
#pragma omp for schedule(static)
        for (int first = 0; first < buses; first += 1024) {
            const int last = std::min(first + 1024, buses);
            for (int i = first; i < last; ++i) {
                p[i] = shunt_g[i] * v[i] * v[i];
                q[i] = -shunt_b[i] * v[i] * v[i];
            }
            for (int t = 0; t < threads; ++t) {
                const Pair* part = sums.get() + (size_t)t * buses;
                for (int i = first; i < last; ++i) {
                    p[i] += part[i].a;
                    q[i] += part[i].b;
                }
            }
        }
    }
}
