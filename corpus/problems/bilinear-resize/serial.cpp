#include <algorithm>
#include <cstddef>

// Place of pixel i of n in an image with m pixels, in units of 1/256; the ends coincide.
static int place(int i, int n, int m) {
    return n > 1 ? (int)((long long)i * (m - 1) * 256 / (n - 1)) : 0;
}

// out = bilinear interpolation of source at the places of the pixels, in fixed point.
extern "C" void resize(const unsigned char* source, unsigned char* out, int srows, int scols, int drows, int dcols) {
    for (int y = 0; y < drows; ++y) {
        const int py = place(y, drows, srows), wy = py & 255;
        const unsigned char* a = source + (size_t)(py >> 8) * scols;
        const unsigned char* b = source + (size_t)std::min((py >> 8) + 1, srows - 1) * scols;
        for (int x = 0; x < dcols; ++x) {
            const int px = place(x, dcols, scols), wx = px & 255;
            const int l = px >> 8, r = std::min(l + 1, scols - 1);
            const int left = (256 - wy) * a[l] + wy * b[l], right = (256 - wy) * a[r] + wy * b[r];
            out[(size_t)y * dcols + x] = (unsigned char)(((256 - wx) * left + wx * right + 32768) >> 16);
        }
    }
}
