#include <cmath>
#include <vector>

struct Atom {
    double x, y, z;
};

namespace md {

constexpr double kEpsilon = 1.0;
constexpr double kSigma = 0.34;

// Forces with a full neighbour list: the neighbours of atom i are list[i * max_neigh .. + count[i]).
// Returns the potential energy.
double lj_forces(const Atom* pos, const int* list, const int* count, Atom* force, int natoms, int max_neigh,
                 double cutoff)
{
    const double cut2 = cutoff * cutoff;
    const double s6 = std::pow(kSigma, 6);
    double energy = 0.0;
    for (int i = 0; i < natoms; ++i) {
        double fx = 0, fy = 0, fz = 0;
        const Atom& pi = pos[i];
        const int* neigh = &list[i * max_neigh];
        for (int k = 0; k < count[i]; ++k) {
            const int j = neigh[k];
            const double dx = pi.x - pos[j].x;
            const double dy = pi.y - pos[j].y;
            const double dz = pi.z - pos[j].z;
            const double r2 = dx * dx + dy * dy + dz * dz;
            if (r2 < cut2 && r2 > 0.0) {
                const double inv2 = 1.0 / r2;
                const double inv6 = inv2 * inv2 * inv2 * s6;
                const double f = 24.0 * kEpsilon * inv6 * (2.0 * inv6 - 1.0) * inv2;
                fx += f * dx;
                fy += f * dy;
                fz += f * dz;
                energy += 2.0 * kEpsilon * inv6 * (inv6 - 1.0);
            }
        }
        force[i].x = fx;
        force[i].y = fy;
        force[i].z = fz;
    }
    return energy;
}

void integrate(std::vector<Atom>& pos, const std::vector<Atom>& force, double dt)
{
    for (std::size_t i = 0; i < pos.size(); ++i) {
        pos[i].x += dt * force[i].x;
        pos[i].y += dt * force[i].y;
        pos[i].z += dt * force[i].z;
    }
}

}  // namespace md
