// An atom's wave is a product of three, one per edge of the cell: a first kernel makes a table of them for the indices
// up to 31, damping included, a second one adds up the products, a warp per reflection. Greater indices take sines.
#include <cuda_runtime.h>

struct Atom {
    double x, y, z;
    double occupancy, b;
};

constexpr int kRows = 32;

__global__ void __launch_bounds__(128) waves(const Atom* __restrict__ atoms, double2* __restrict__ table, double a,
                                             double b, double c, int natoms) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, index = blockIdx.y, axis = blockIdx.z;
    if (i >= natoms) return;
    const Atom atom = atoms[i];
    const double at = axis == 0 ? atom.x : axis == 1 ? atom.y : atom.z, edge = axis == 0 ? a : axis == 1 ? b : c;
    const double f = (axis == 0 ? atom.occupancy : 1.0) * exp(-atom.b * (0.25 * index * index / (edge * edge)));
    double sine, cosine;
    sincospi(2.0 * index * at, &sine, &cosine);
    table[((size_t)axis * kRows + index) * natoms + i] = make_double2(f * cosine, f * sine);
}

__global__ void __launch_bounds__(256) sums(const Atom* __restrict__ atoms, const double2* __restrict__ table,
                                            const int* __restrict__ hkl, double* __restrict__ real,
                                            double* __restrict__ imaginary, double a, double b, double c, int natoms,
                                            int reflections) {
    const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= reflections) return;  // a whole warp
    const int h = hkl[3 * r], k = hkl[3 * r + 1], l = hkl[3 * r + 2];
    double re = 0.0, im = 0.0;
    if (max(abs(h), max(abs(k), abs(l))) < kRows) {
        const double2* x = table + (size_t)abs(h) * natoms;
        const double2* y = table + (size_t)(kRows + abs(k)) * natoms;
        const double2* z = table + (size_t)(2 * kRows + abs(l)) * natoms;
        const double sx = h < 0 ? -1.0 : 1.0, sy = k < 0 ? -1.0 : 1.0, sz = l < 0 ? -1.0 : 1.0;
#pragma unroll 4
        for (int i = lane; i < natoms; i += 32) {
            const double2 u = x[i], v = y[i], w = z[i];
            const double ui = sx * u.y, vi = sy * v.y, wi = sz * w.y;
            const double pr = u.x * v.x - ui * vi, pi = u.x * vi + ui * v.x;
            re += pr * w.x - pi * wi;
            im += pr * wi + pi * w.x;
        }
    } else {
        const double s2 = 0.25 * ((double)h * h / (a * a) + (double)k * k / (b * b) + (double)l * l / (c * c));
        for (int i = lane; i < natoms; i += 32) {
            const double f = atoms[i].occupancy * exp(-atoms[i].b * s2);
            double sine, cosine;
            sincospi(2.0 * (h * atoms[i].x + k * atoms[i].y + l * atoms[i].z), &sine, &cosine);
            re += f * cosine;
            im += f * sine;
        }
    }
    for (int step = 16; step > 0; step /= 2) {
        re += __shfl_xor_sync(0xffffffffu, re, step);
        im += __shfl_xor_sync(0xffffffffu, im, step);
    }
    if (lane == 0) {
        real[r] = re;
        imaginary[r] = im;
    }
}

extern "C" void structure_factors(const Atom* atoms, const int* hkl, double* real, double* imaginary, double a,
                                  double b, double c, int natoms, int reflections) {
    double2* table;
    cudaMallocAsync(&table, sizeof(double2) * 3 * kRows * natoms, 0);
    waves<<<dim3((natoms + 127) / 128, kRows, 3), 128>>>(atoms, table, a, b, c, natoms);
    sums<<<(reflections + 7) / 8, 256>>>(atoms, table, hkl, real, imaginary, a, b, c, natoms, reflections);
    cudaFreeAsync(table, 0);
}
