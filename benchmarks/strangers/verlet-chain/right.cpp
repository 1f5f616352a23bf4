void integrate(std::vector<Bead>& beads, int steps, double dt) {
    const int n = static_cast<int>(beads.size());
    auto pull = [](double stretch) { return kSpring * stretch + kAnharmonic * stretch * stretch * stretch; };
#pragma omp parallel
    for (int step = 0; step < steps; ++step) {
#pragma omp for schedule(static)
        for (int i = 0; i < n; ++i) {
            beads[i].v += 0.5 * dt * beads[i].f;
            beads[i].x += dt * beads[i].v;
        }
#pragma omp for schedule(static)
        for (int i = 0; i < n; ++i) {
            double force = 0.0;
            if (i > 0) force -= pull(beads[i].x - beads[i - 1].x);
            if (i < n - 1) force += pull(beads[i + 1].x - beads[i].x);
            beads[i].f = force;
            beads[i].v += 0.5 * dt * force;
        }
    }
}
