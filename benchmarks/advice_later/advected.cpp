// first openmp: parallel-for single-parallel-region simd
// first cuda: thread-per-element persistent-device-buffers
#include <utility>
#include <vector>
void advect(std::vector<double>& level, double share, int steps) {
    std::vector<double> next(level.size());
    for (int step = 0; step < steps; ++step) {
        next[0] = level[0];
        for (size_t k = 1; k < level.size(); ++k)
            next[k] = level[k] - share * (level[k] - level[k - 1]);
        std::swap(level, next);
    }
}
