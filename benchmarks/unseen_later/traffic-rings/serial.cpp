// Car-following on ring roads by the intelligent driver model: each car sees the gap to the car ahead and its speed.
// gap and speed in metres and metres per second, a road after the other.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

extern "C" void traffic_rings(double* gap, double* speed, double dt, int rings, int cars, int steps) {
    const double wanted = 33.0, headway = 1.5, jam = 2.0, accelerate = 1.2, brake = 2.0;
    for (int r = 0; r < rings; ++r) {
        std::vector<double> v(speed + (size_t)r * cars, speed + (size_t)(r + 1) * cars);
        std::vector<double> s(gap + (size_t)r * cars, gap + (size_t)(r + 1) * cars);
        std::vector<double> next_v(cars), next_s(cars);
        for (int step = 0; step < steps; ++step) {
            for (int i = 0; i < cars; ++i) {
                const double closing = v[i] - v[(i + 1) % cars];
                const double safe =
                    jam + std::max(0.0, v[i] * headway + v[i] * closing / (2.0 * std::sqrt(accelerate * brake)));
                const double a = accelerate * (1.0 - std::pow(v[i] / wanted, 4) -
                                               std::pow(safe / std::max(s[i], 0.5), 2));
                next_v[i] = std::max(0.0, v[i] + dt * std::max(a, -8.0));
            }
            for (int i = 0; i < cars; ++i) {
                next_s[i] = s[i] + dt * (next_v[(i + 1) % cars] - next_v[i]);
            }
            std::swap(v, next_v);
            std::swap(s, next_s);
        }
        std::copy(v.begin(), v.end(), speed + (size_t)r * cars);
        std::copy(s.begin(), s.end(), gap + (size_t)r * cars);
    }
}
