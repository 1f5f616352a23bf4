// Neighbouring cells that are equally many steps away are the 16 lanes of vectors: each step divides once for all.
// Their lines' cells at a step lie within 16 of a row, so that one load and a shuffle give all heights. Lines that
// count steps along x run on a turned copy.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {
constexpr int kLanes = 16;
typedef int Ints __attribute__((vector_size(64)));
typedef float Floats __attribute__((vector_size(64)));
typedef float Half __attribute__((vector_size(32)));
typedef double Doubles __attribute__((vector_size(64)));

// All cells of row `target` whose steps are counted across rows. Rows may be read 16 cells beyond their end.
template <typename Write>
inline void see_row(const float* __restrict heights, int target, int minors, int from, int beside, double eye,
                    const double* __restrict inverse, bool diagonal, Write write) {
    const int steps = std::abs(target - from), way = target < from ? -1 : 1;
    const int reach = diagonal ? steps : steps - 1;
    const int begin = std::max(0, beside - reach), end = std::min(minors, beside + reach + 1);
    for (int first = begin; first < end; first += kLanes) {
        const int count = std::min(kLanes, end - first);
        Ints place, error, twice, side;
        for (int k = 0; k < kLanes; ++k) {
            const int to = first + std::min(k, count - 1);
            place[k] = beside;
            error[k] = steps;
            twice[k] = 2 * std::abs(to - beside);
            side[k] = to < beside ? -1 : 1;
        }
        Doubles low = {}, high = {};
        low -= 1e30;
        high -= 1e30;
        for (int s = 1; s < steps; ++s) {
            const float* line = heights + (size_t)(from + way * s) * minors;
            error += twice;
            const Ints aside = error >= 2 * steps;
            error -= aside & (2 * steps);
            place += aside & side;
            Floats near;
            std::memcpy(&near, line + place[0], sizeof near);
            near = __builtin_shuffle(near, place - place[0]);
            Half left, right;
            std::memcpy(&left, &near, sizeof left);
            std::memcpy(&right, (const char*)&near + sizeof left, sizeof right);
            const Doubles a = (__builtin_convertvector(left, Doubles) - eye) * inverse[s];
            const Doubles b = (__builtin_convertvector(right, Doubles) - eye) * inverse[s];
            low = low > a ? low : a;
            high = high > b ? high : b;
        }
        for (int k = 0; k < count; ++k) {
            const double steepest = k < 8 ? low[k] : high[k - 8];
            const double ground = heights[(size_t)target * minors + first + k];
            write(target, first + k, steps ? std::max(0.0, eye + steepest * steps - ground) : 0.0);
        }
    }
}
}  // namespace

extern "C" void viewshed(const float* __restrict ground, double* __restrict lift, double eye, int nx, int ny) {
    const int ox = nx / 2, oy = ny / 2;
    const size_t cells = (size_t)nx * ny;
    eye += (double)ground[(size_t)oy * nx + ox];
    std::vector<float> turned(cells + kLanes), rows(cells + kLanes);
    std::vector<double> inverse(std::max(nx, ny) + 1);
    for (int s = 1; s <= std::max(nx, ny); ++s) inverse[s] = 1.0 / s;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int y0 = 0; y0 < ny; y0 += 16) {
            const int y1 = std::min(ny, y0 + 16);
            std::memcpy(&rows[(size_t)y0 * nx], ground + (size_t)y0 * nx, sizeof(float) * nx * (y1 - y0));
            for (int x = 0; x < nx; ++x) {
                for (int y = y0; y < y1; ++y) turned[(size_t)x * ny + y] = ground[(size_t)y * nx + x];
            }
        }
#pragma omp for schedule(dynamic, 2) nowait
        for (int x = 0; x < nx; ++x) {
            see_row(turned.data(), x, ny, ox, oy, eye, inverse.data(), true,
                    [=](int i, int j, double v) { lift[(size_t)j * nx + i] = v; });
        }
#pragma omp for schedule(dynamic, 2)
        for (int y = 0; y < ny; ++y) {
            see_row(rows.data(), y, nx, oy, ox, eye, inverse.data(), false,
                    [=](int j, int i, double v) { lift[(size_t)j * nx + i] = v; });
        }
    }
}
