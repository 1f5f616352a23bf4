#include <array>
#include <cmath>
#include <vector>

namespace Ewald {

using Vec3 = std::array<double, 3>;

static double minimumImage(double d, double box) { return d - box * std::round(d / box); }

// Real-space part of the Coulomb energy; every pair once.
double realSpaceEnergy(const std::vector<Vec3>& position, const std::vector<double>& charge, double box,
                       double alpha, double cutoff) {
    long double energy = 0.0L;
    const double cutoff2 = cutoff * cutoff;
    for (std::size_t i = 0; i + 1 < position.size(); ++i) {
        const Vec3& a = position[i];
        for (std::size_t j = i + 1; j < position.size(); ++j) {
            const Vec3& b = position[j];
            double r2 = 0;
            for (int d = 0; d < 3; ++d) {
                const double delta = minimumImage(a[d] - b[d], box);
                r2 += delta * delta;
            }
            if (r2 >= cutoff2 || r2 == 0) continue;
            const double r = std::sqrt(r2);
            energy += charge[i] * charge[j] * std::erfc(alpha * r) / r;
        }
    }
    return static_cast<double>(energy);
}

}  // namespace Ewald
