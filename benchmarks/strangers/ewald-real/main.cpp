#include <array>
#include <cstdio>
#include <vector>

namespace Ewald {
double realSpaceEnergy(const std::vector<std::array<double, 3>>& position, const std::vector<double>& charge,
                       double box, double alpha, double cutoff);
}

int main() {
    for (int n : {0, 1, 2, 400}) {
        std::vector<std::array<double, 3>> p(n);
        std::vector<double> q(n);
        for (int i = 0; i < n; ++i) {
            for (int d = 0; d < 3; ++d) p[i][d] = (i * 7919 + d * 104729) % 1009 / 100.9;
            q[i] = i % 2 ? 1.0 : -0.8;
        }
        std::printf("%.7f\n", Ewald::realSpaceEnergy(p, q, 10.0, 0.3, 4.5));
    }
}
