// In-place radix-2 FFT, decimation in time.
#include <cmath>
#include <cstddef>
#include <utility>

static const double PI = 3.14159265358979323846;

static bool is_pow2(size_t n) { return n && !(n & (n - 1)); }

void fft(double *re, double *im, int n, int inverse)
{
    int i, j, k, len;

    /* bit reversal */
    for (i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            std::swap(re[i], re[j]);
            std::swap(im[i], im[j]);
        }
    }

    for (len = 2; len <= n; len <<= 1) {
        double ang = 2 * PI / len * (inverse ? 1 : -1);
        int half = len / 2;
        for (i = 0; i < n; i += len) {
            for (k = 0; k < half; k++) {
                double wr = cos(ang * k), wi = sin(ang * k);
                double ur = re[i + k], ui = im[i + k];
                double xr = re[i + k + half], xi = im[i + k + half];
                double vr = xr * wr - xi * wi;
                double vi = xr * wi + xi * wr;
                re[i + k] = ur + vr;
                im[i + k] = ui + vi;
                re[i + k + half] = ur - vr;
                im[i + k + half] = ui - vi;
            }
        }
    }

    if (inverse) {
        for (i = 0; i < n; i++) {
            re[i] /= n;
            im[i] /= n;
        }
    }
}

bool fft_checked(double *re, double *im, size_t n)
{
    if (!is_pow2(n)) return false;
    fft(re, im, (int)n, 0);
    return true;
}
