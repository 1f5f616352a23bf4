// The cell has right angles, so an atom's wave is a product of three, one per edge: a table holds them for each index
// that occurs, damping included, and no pair needs a sine or an exponential. Atoms are lanes, reflections go to the
// threads.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <vector>

// math.h offers these only under -ffast-math; the vector forms are the same ones. Sine and cosine in one loop would become
// a call that has no vector form.
#pragma omp declare simd notinbranch
extern "C" double sin(double) noexcept;
#pragma omp declare simd notinbranch
extern "C" double cos(double) noexcept;
#pragma omp declare simd notinbranch
extern "C" double exp(double) noexcept;

struct Atom {
    double x, y, z;
    double occupancy, b;
};

extern "C" void structure_factors(const Atom* __restrict atoms, const int* __restrict hkl, double* __restrict real,
                                  double* __restrict imaginary, double a, double b, double c, int natoms,
                                  int reflections) {
    int most = 0;
    for (int i = 0; i < 3 * reflections; ++i) most = std::max(most, std::abs(hkl[i]));
    const int rows = most + 1;
    const double edge[3] = {a, b, c};
    std::vector<double> re((size_t)3 * rows * natoms), im((size_t)3 * rows * natoms);
#pragma omp parallel
    {
#pragma omp for collapse(2) schedule(static)
        for (int axis = 0; axis < 3; ++axis) {
            for (int index = 0; index < rows; ++index) {
                const double s2 = 0.25 * index * index / (edge[axis] * edge[axis]), turn = 2 * M_PI * index;
                auto place = [=](int i) { return axis == 0 ? atoms[i].x : axis == 1 ? atoms[i].y : atoms[i].z; };
                auto size = [=](int i) { return (axis == 0 ? atoms[i].occupancy : 1.0) * exp(-atoms[i].b * s2); };
                double* to_re = &re[((size_t)axis * rows + index) * natoms];
                double* to_im = &im[((size_t)axis * rows + index) * natoms];
#pragma omp simd
                for (int i = 0; i < natoms; ++i) to_re[i] = size(i) * cos(turn * place(i));
#pragma omp simd
                for (int i = 0; i < natoms; ++i) to_im[i] = size(i) * sin(turn * place(i));
            }
        }
#pragma omp for schedule(static)
        for (int r = 0; r < reflections; ++r) {
            const double *wave_re[3], *wave_im[3];
            double sign[3];
            for (int axis = 0; axis < 3; ++axis) {
                const int index = hkl[3 * r + axis];
                wave_re[axis] = &re[((size_t)axis * rows + std::abs(index)) * natoms];
                wave_im[axis] = &im[((size_t)axis * rows + std::abs(index)) * natoms];
                sign[axis] = index < 0 ? -1 : 1;
            }
            const double *xr = wave_re[0], *xi = wave_im[0], *yr = wave_re[1], *yi = wave_im[1];
            const double *zr = wave_re[2], *zi = wave_im[2];
            double sum_re = 0, sum_im = 0;
#pragma omp simd reduction(+ : sum_re, sum_im)
            for (int i = 0; i < natoms; ++i) {
                const double ix = sign[0] * xi[i], iy = sign[1] * yi[i], iz = sign[2] * zi[i];
                const double pr = xr[i] * yr[i] - ix * iy, pi = xr[i] * iy + ix * yr[i];
                sum_re += pr * zr[i] - pi * iz;
                sum_im += pr * iz + pi * zr[i];
            }
            real[r] = sum_re;
            imaginary[r] = sum_im;
        }
    }
}
