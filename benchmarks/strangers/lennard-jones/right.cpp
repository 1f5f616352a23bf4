double lj_forces(const Atom* pos, const int* list, const int* count, Atom* force, int natoms, int max_neigh,
                 double cutoff)
{
    const double cut2 = cutoff * cutoff;
    const double s6 = std::pow(kSigma, 6);
    double energy = 0.0;
    #pragma omp parallel for reduction(+ : energy) schedule(dynamic, 32)
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
