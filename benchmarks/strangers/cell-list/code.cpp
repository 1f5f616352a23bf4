#include <algorithm>
#include <vector>

struct Particle {
    float x, y, z, mass;
};

struct CellOf {
    float inverse;
    int side;
    int operator()(const Particle& p) const {
        return (clip(p.z) * side + clip(p.y)) * side + clip(p.x);
    }
    int clip(float v) const { return std::min(std::max(static_cast<int>(v * inverse), 0), side - 1); }
};

// Sorts particles by cell, stably; start[c] .. start[c + 1] are those of cell c.
void binParticles(const Particle* particles, int count, int side, Particle* sorted, int* start) {
    const int cells = side * side * side;
    const CellOf cellOf{static_cast<float>(side), side};
    std::fill(start, start + cells + 1, 0);
    for (int i = 0; i < count; ++i) ++start[cellOf(particles[i]) + 1];
    for (int c = 0; c < cells; ++c) start[c + 1] += start[c];
    std::vector<int> cursor(start, start + cells);
    for (int i = 0; i < count; ++i) sorted[cursor[cellOf(particles[i])]++] = particles[i];
}
