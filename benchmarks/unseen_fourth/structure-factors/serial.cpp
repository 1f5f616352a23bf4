// Structure factors of a crystal with right angles: the sum over its atoms of a wave per reflection (h, k, l), weaker
// for atoms that move (temperature factor b, in square angstrom). Places are fractions of the cell (edges a, b, c in
// angstrom).
#include <cmath>

struct Atom {
    double x, y, z;
    double occupancy, b;

    double phase(int h, int k, int l) const { return 2 * M_PI * (h * x + k * y + l * z); }
    double damped(double s2) const { return occupancy * std::exp(-b * s2); }
};

struct Cell {
    double a, b, c;

    // sine of the angle over the wavelength, squared
    double s2(int h, int k, int l) const { return 0.25 * (h * h / (a * a) + k * k / (b * b) + l * l / (c * c)); }
};

extern "C" void structure_factors(const Atom* atoms, const int* hkl, double* real, double* imaginary, double a,
                                  double b, double c, int natoms, int reflections) {
    const Cell cell{a, b, c};
    for (int r = 0; r < reflections; ++r) {
        const int h = hkl[3 * r], k = hkl[3 * r + 1], l = hkl[3 * r + 2];
        const double s2 = cell.s2(h, k, l);
        double re = 0, im = 0;
        for (int i = 0; i < natoms; ++i) {
            const double f = atoms[i].damped(s2), angle = atoms[i].phase(h, k, l);
            re += f * std::cos(angle);
            im += f * std::sin(angle);
        }
        real[r] = re;
        imaginary[r] = im;
    }
}
