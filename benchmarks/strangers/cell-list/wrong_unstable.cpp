void binParticles(const Particle* particles, int count, int side, Particle* sorted, int* start) {
    const int cells = side * side * side;
    const CellOf cellOf{static_cast<float>(side), side};
    std::vector<int> cell(count);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < count; ++i) cell[i] = cellOf(particles[i]);
    std::fill(start, start + cells + 1, 0);
    for (int i = 0; i < count; ++i) ++start[cell[i] + 1];
    for (int c = 0; c < cells; ++c) start[c + 1] += start[c];
    std::vector<int> cursor(start, start + cells), place(count);
    for (int i = count - 1; i >= 0; --i) place[i] = cursor[cell[i]]++;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < count; ++i) sorted[place[i]] = particles[i];
}
