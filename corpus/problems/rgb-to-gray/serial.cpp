#include <cstddef>

// gray = (77 R + 150 G + 29 B + 128) / 256 for interleaved bytes.
extern "C" void rgb_to_gray(const unsigned char* rgb, unsigned char* gray, int n) {
    for (int i = 0; i < n; ++i) {
        const int r = rgb[3 * (size_t)i], g = rgb[3 * (size_t)i + 1], b = rgb[3 * (size_t)i + 2];
        gray[i] = (unsigned char)((77 * r + 150 * g + 29 * b + 128) >> 8);
    }
}
