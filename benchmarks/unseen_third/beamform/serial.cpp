// Delay and sum for an ultrasound image of a plane wave: the wave goes down to a pixel, its echo back to each element
// of the probe that the pixel lies in front of. place: of the elements along the probe, mm; echoes begin at time 0.
#include <algorithm>
#include <cmath>
#include <cstddef>

// Samples that the wave needs to the pixel (x, z) and back to an element.
static double delay(double x, double z, double element, double per_mm) {
    const double aside = x - element;
    return (z + std::sqrt(z * z + aside * aside)) * per_mm;
}

// Elements see only what lies within about 27 degrees; the weight falls to the edge of that.
static double aperture(double x, double z, double element) {
    const double u = (x - element) / (0.5 * z);
    return u * u < 1 ? 1 - u * u : 0;
}

static double sample(const float* echo, int samples, double at) {
    at = std::min(at, samples - 1.0);
    const int i = std::min((int)at, samples - 2);
    const double part = at - i;
    return echo[i] * (1 - part) + echo[i + 1] * part;
}

extern "C" void beamform(const float* echo, const double* place, float* image, double pitch, double per_mm,
                         int elements, int samples, int nz, int nx) {
    for (int iz = 0; iz < nz; ++iz) {
        for (int ix = 0; ix < nx; ++ix) {
            const double z = (iz + 1) * pitch, x = (ix - 0.5 * (nx - 1)) * pitch;
            double sum = 0;
            for (int e = 0; e < elements; ++e) {
                const double weight = aperture(x, z, place[e]);
                if (weight > 0) {
                    sum += weight * sample(echo + (size_t)e * samples, samples, delay(x, z, place[e], per_mm));
                }
            }
            image[(size_t)iz * nx + ix] = (float)sum;
        }
    }
}
