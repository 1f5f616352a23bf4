// Balance of each cell of an aquifer: what flows in from six neighbours, with the harmonic mean of two cells'
// conductivities at their common face, and the source. No flow crosses the border. Also the largest imbalance.
#include <cmath>
#include <cstddef>

struct Aquifer {
    const float *head, *conductivity;
    int nz, ny, nx;

    size_t at(int z, int y, int x) const { return ((size_t)z * ny + y) * nx + x; }

    float flow(size_t into, size_t out_of) const {
        const float a = conductivity[into], b = conductivity[out_of];
        return 2.0f * a * b / (a + b) * (head[out_of] - head[into]);
    }
};

extern "C" void seepage_residual(const float* head, const float* conductivity, const float* source, float* residual,
                                 float* largest, int nz, int ny, int nx) {
    const Aquifer aquifer = {head, conductivity, nz, ny, nx};
    float most = 0;
    for (int z = 0; z < nz; ++z) {
        for (int y = 0; y < ny; ++y) {
            for (int x = 0; x < nx; ++x) {
                const size_t c = aquifer.at(z, y, x);
                float sum = source[c];
                if (x > 0) sum += aquifer.flow(c, c - 1);
                if (x < nx - 1) sum += aquifer.flow(c, c + 1);
                if (y > 0) sum += aquifer.flow(c, aquifer.at(z, y - 1, x));
                if (y < ny - 1) sum += aquifer.flow(c, aquifer.at(z, y + 1, x));
                if (z > 0) sum += aquifer.flow(c, aquifer.at(z - 1, y, x));
                if (z < nz - 1) sum += aquifer.flow(c, aquifer.at(z + 1, y, x));
                residual[c] = sum;
                if (std::fabs(sum) > most) most = std::fabs(sum);
            }
        }
    }
    *largest = most;
}
