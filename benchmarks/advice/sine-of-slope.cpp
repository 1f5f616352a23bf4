// first openmp: parallel-for vector-math
// first cuda: thread-per-element
#include <cmath>
#include <vector>
void sine_of_slope(const std::vector<double>& f, std::vector<double>& result, double step) {
    const std::size_t points = f.size();
    for (std::size_t p = 1; p + 1 < points; ++p)
        result[p] = std::sin(f[p + 1] - f[p - 1]) / (2 * step);
}
