// first openmp: parallel-for reduction-clause thread-private-copies critical-section
// first cuda: thread-per-element block-reduction cub-primitives
#include <cstddef>
#include <vector>
struct Spot {
    double x, y;
};
std::size_t farthest(const std::vector<Spot>& spots, double px, double py) {
    std::size_t where = 0;
    double most = -1.0;
    for (std::size_t k = 0; k < spots.size(); ++k) {
        const double dx = spots[k].x - px, dy = spots[k].y - py;
        const double d = dx * dx + dy * dy;
        if (d > most) {
            most = d;
            where = k;
        }
    }
    return where;
}
