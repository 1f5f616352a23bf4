// Separable and sliding: a sum per column gains a row and loses one (vector code), the sum of a square gains a column
// and loses one. Sums of columns go on beyond the border as the terrain does, so no cell asks where it lies. A band
// of rows begins with whole sums, which also ends the drift.
#include <algorithm>
#include <cstddef>
#include <vector>

namespace {
constexpr int kBand = 32;

struct Terrain {
    const double* heights;
    int rows, cols;
    const double* row(int y) const { return heights + (size_t)std::clamp(y, 0, rows - 1) * cols; }
};

void band(const Terrain& terrain, double* position, int radius, int first, int last) {
    const int cols = terrain.cols;
    std::vector<double> wide(cols + 2 * (size_t)radius, 0.0);
    double* __restrict columns = wide.data() + radius;
    const double weight = 1.0 / ((2 * radius + 1) * (2 * radius + 1));
    for (int y = first - radius; y <= first + radius; ++y) {
        const double* row = terrain.row(y);
        for (int x = 0; x < cols; ++x) columns[x] += row[x];
    }
    for (int y = first; y < last; ++y) {
        std::fill(columns - radius, columns, columns[0]);
        std::fill(columns + cols, columns + cols + radius, columns[cols - 1]);
        const double *row = terrain.row(y), *in = terrain.row(y + radius + 1), *out = terrain.row(y - radius);
        double* __restrict to = position + (size_t)y * cols;
        double sum = 0;
        for (int x = -radius; x < radius; ++x) sum += columns[x];
        for (int x = 0; x < cols; ++x) {
            sum += columns[x + radius];
            to[x] = row[x] - sum * weight;
            sum -= columns[x - radius];
        }
        for (int x = 0; x < cols; ++x) columns[x] += in[x] - out[x];
    }
}
}  // namespace

extern "C" void terrain_position(const double* __restrict heights, double* __restrict position, int radius, int rows,
                                 int cols) {
    const Terrain terrain = {heights, rows, cols};
#pragma omp parallel for schedule(static) if ((long long)rows * cols > 10000)
    for (int first = 0; first < rows; first += kBand) {
        band(terrain, position, radius, first, std::min(first + kBand, rows));
    }
}
