#include <cstdio>
#include <vector>

struct Atom { double x, y, z; };

namespace md {
double lj_forces(const Atom* pos, const int* list, const int* count, Atom* force, int natoms, int max_neigh,
                 double cutoff);
}

int main()
{
    const int side = 6, n = side * side * side, most = 32;
    std::vector<Atom> pos(n), force(n);
    for (int i = 0; i < n; i++)
        pos[i] = {0.38 * (i % side) + 0.001 * (i % 7), 0.38 * (i / side % side), 0.38 * (i / side / side)};
    std::vector<int> list(n * most), count(n, 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double dx = pos[i].x - pos[j].x, dy = pos[i].y - pos[j].y, dz = pos[i].z - pos[j].z;
            if (i != j && dx * dx + dy * dy + dz * dz < 0.55 * 0.55 && count[i] < most)
                list[i * most + count[i]++] = j;
        }
    double e = md::lj_forces(pos.data(), list.data(), count.data(), force.data(), n, most, 0.5);
    double sum = 0;
    for (auto& f : force) sum += f.x * f.x + f.y * f.y + f.z * f.z;
    printf("%.6e %.6e\n", e, sum);
}
