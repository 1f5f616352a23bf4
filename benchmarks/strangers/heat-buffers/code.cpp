#include <cstddef>
#include <iostream>
#include <utility>
#include <vector>

namespace thermal {

struct Material {
    double conductivity;
    double capacity;
    double density;
};

inline double diffusivity(const Material& m) { return m.conductivity / (m.capacity * m.density); }

// Explicit Euler on a rod with fixed ends: `steps` times, two buffers.
std::vector<double> simulate(const std::vector<double>& initial, int steps, double r) {
    std::vector<double> current(initial);
    std::vector<double> next(initial.size());
    const std::size_t n = initial.size();
    if (n < 3) return current;

    for (int t = 0; t < steps; ++t) {
        next[0] = current[0];
        next[n - 1] = current[n - 1];
        for (std::size_t i = 1; i + 1 < n; ++i)
            next[i] = current[i] + r * (current[i - 1] - 2.0 * current[i] + current[i + 1]);
        std::swap(current, next);
    }
    return current;
}

// The same on a plate, for `steps` steps; u is replaced.
void simulate_plate(std::vector<double>& u, std::size_t rows, std::size_t cols, int steps, double r) {
    std::vector<double> v(u);
    for (int t = 0; t < steps; ++t) {
        for (std::size_t i = 1; i + 1 < rows; ++i) {
            const double* up = &u[(i - 1) * cols];
            const double* mid = &u[i * cols];
            const double* down = &u[(i + 1) * cols];
            double* out = &v[i * cols];
            for (std::size_t j = 1; j + 1 < cols; ++j) {
                out[j] = mid[j] + r * (up[j] + down[j] + mid[j - 1] + mid[j + 1] - 4.0 * mid[j]);
            }
        }
        std::swap(u, v);
    }
}

void print(const std::vector<double>& u) {
    for (double x : u) std::cout << x << ' ';
    std::cout << '\n';
}

}  // namespace thermal
