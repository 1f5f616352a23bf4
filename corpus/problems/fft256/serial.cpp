#include <cmath>
#include <cstddef>

// Forward transform of each of `batch` rows of 256 complex numbers: bit reversal, then eight levels.
extern "C" void fft256(const float* in, float* out, int batch) {
    float wr[128], wi[128];
    for (int k = 0; k < 128; ++k) {
        wr[k] = std::cos(3.14159265358979 * k / 128);
        wi[k] = -std::sin(3.14159265358979 * k / 128);
    }
    for (int b = 0; b < batch; ++b) {
        const float* from = in + (size_t)b * 512;
        float* to = out + (size_t)b * 512;
        for (int i = 0; i < 256; ++i) {
            int j = 0;
            for (int bit = 0; bit < 8; ++bit) {
                j |= (i >> bit & 1) << (7 - bit);
            }
            to[2 * j] = from[2 * i];
            to[2 * j + 1] = from[2 * i + 1];
        }
        for (int h = 1; h < 256; h *= 2) {
            for (int i = 0; i < 256; i += 2 * h) {
                for (int j = 0; j < h; ++j) {
                    float* p = to + 2 * (i + j);
                    float* q = p + 2 * h;
                    const float c = wr[j * (128 / h)], s = wi[j * (128 / h)];
                    const float re = q[0] * c - q[1] * s, im = q[0] * s + q[1] * c;
                    q[0] = p[0] - re;
                    q[1] = p[1] - im;
                    p[0] += re;
                    p[1] += im;
                }
            }
        }
    }
}
