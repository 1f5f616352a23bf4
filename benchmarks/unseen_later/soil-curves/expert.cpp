// Both curves from two logarithms and three exponentials, where the formulas as written take seven powers; vector
// versions of them (libmvec). Soils are looked up into arrays of a block first.
#include <algorithm>
#include <cmath>

// math.h offers these only under -ffast-math; the vector forms are the same ones.
#pragma omp declare simd notinbranch
extern "C" double exp(double) noexcept;
#pragma omp declare simd notinbranch
extern "C" double log(double) noexcept;

struct Soil {
    double residual, saturated, alpha, n, ks;
};

namespace {
constexpr int kBlock = 512;

void curves(const double* __restrict head, const int* __restrict kind, const Soil* __restrict soils,
            double* __restrict content, double* __restrict conductivity, int count) {
    alignas(64) double low[kBlock], room[kBlock], scaled[kBlock], n[kBlock], ks[kBlock];
    for (int c = 0; c < count; ++c) {
        const Soil soil = soils[kind[c]];
        low[c] = soil.residual;
        room[c] = soil.saturated - soil.residual;
        scaled[c] = head[c] < 0.0 ? -soil.alpha * head[c] : 1.0;
        n[c] = soil.n;
        ks[c] = soil.ks;
    }
#pragma omp simd
    for (int c = 0; c < count; ++c) {
        const double m = 1.0 - 1.0 / n[c], power = n[c] * log(scaled[c]);  // of the scaled head to the n
        const double whole = log(1.0 + exp(power));
        scaled[c] = exp(-0.5 * m * whole);  // from here on: the root of the saturation
        n[c] = exp(m * (power - whole));  // and what is taken from 1
    }
#pragma omp simd
    for (int c = 0; c < count; ++c) {  // choices in a loop of their own, or g++ branches around the exponentials
        const bool dry = head[c] < 0.0;
        const double root = dry ? scaled[c] : 1.0, rest = dry ? n[c] : 0.0;
        content[c] = low[c] + room[c] * (root * root);
        conductivity[c] = ks[c] * root * (1.0 - rest) * (1.0 - rest);
    }
}
}  // namespace

extern "C" void soil_curves(const double* head, const int* kind, const Soil* soils, double* content,
                            double* conductivity, int cells, int) {
#pragma omp parallel for schedule(static)
    for (int first = 0; first < cells; first += kBlock) {
        curves(head + first, kind + first, soils, content + first, conductivity + first,
               std::min(kBlock, cells - first));
    }
}
