#include <cstdio>
#include <vector>

namespace Chain {
struct Bead {
    double x, v, f;
};
void integrate(std::vector<Bead>& beads, int steps, double dt);
}  // namespace Chain

int main() {
    for (int n : {0, 1, 2, 1000}) {
        std::vector<Chain::Bead> beads(n);
        for (int i = 0; i < n; ++i) beads[i] = {i * 7919 % 1009 / 1009.0, 0.1 * (i % 3), 0.0};
        Chain::integrate(beads, 20, 0.01);
        double sum = 0, place = 0;
        for (const auto& b : beads) sum += (b.x * 3 + b.v * 2 + b.f) * ++place;
        std::printf("%.8f\n", sum);
    }
}
