#include <cmath>
#include <vector>

namespace Chain {

struct Bead {
    double x, v, f;
};

constexpr double kSpring = 4.0;
constexpr double kAnharmonic = 0.25;

void integrate(std::vector<Bead>& beads, int steps, double dt) {
    const int n = static_cast<int>(beads.size());
    auto pull = [](double stretch) { return kSpring * stretch + kAnharmonic * stretch * stretch * stretch; };
    for (int step = 0; step < steps; ++step) {
        for (auto& bead : beads) {
            bead.v += 0.5 * dt * bead.f;
            bead.x += dt * bead.v;
        }
        for (int i = 0; i < n; ++i) {
            double force = 0.0;
            if (i > 0) force -= pull(beads[i].x - beads[i - 1].x);
            if (i < n - 1) force += pull(beads[i + 1].x - beads[i].x);
            beads[i].f = force;
            beads[i].v += 0.5 * dt * force;
        }
    }
}

}  // namespace Chain
