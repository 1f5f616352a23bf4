// Charge of particles on the nodes of a grid (cloud in cell): each particle shares its charge among the four nodes
// around it. Positions are in units of cells.
#include <cstddef>

struct Particle {
    float x, y, charge;
};

class Grid {
public:
    Grid(double* density, int nx, int ny) : density_(density), nx_(nx), ny_(ny) {}

    void clear() {
        for (size_t node = 0; node < (size_t)nx_ * ny_; ++node) density_[node] = 0.0;
    }

    void deposit(const Particle& p) {
        const int i = cell(p.x, nx_), j = cell(p.y, ny_);
        const double fx = (double)p.x - i, fy = (double)p.y - j;
        at(i, j) += p.charge * (1.0 - fx) * (1.0 - fy);
        at(i + 1, j) += p.charge * fx * (1.0 - fy);
        at(i, j + 1) += p.charge * (1.0 - fx) * fy;
        at(i + 1, j + 1) += p.charge * fx * fy;
    }

private:
    static int cell(float place, int nodes) {
        const int c = (int)place;
        return c > nodes - 2 ? nodes - 2 : c;  // the last node belongs to the last cell
    }
    double& at(int i, int j) { return density_[(size_t)j * nx_ + i]; }

    double* density_;
    int nx_, ny_;
};

extern "C" void charge_deposit(const Particle* particles, double* density, int count, int nx, int ny) {
    Grid grid(density, nx, ny);
    grid.clear();
    for (int p = 0; p < count; ++p) grid.deposit(particles[p]);
}
