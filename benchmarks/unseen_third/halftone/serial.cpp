// Halftones for a printer: each colour plane becomes dots (255) or paper (0). The error of a pixel goes on to its
// right neighbour and to three of the next row (Floyd and Steinberg), in whole numbers.
#include <cstddef>
#include <vector>

static void pass_on(int error, int x, int w, int* here, int* below) {
    const int right = error * 7 / 16;
    const int back = error * 3 / 16;
    const int down = error * 5 / 16;
    const int ahead = error - right - back - down;
    if (x + 1 < w) here[x + 1] += right;
    if (x > 0) below[x - 1] += back;
    below[x] += down;
    if (x + 1 < w) below[x + 1] += ahead;
}

static void plane_to_dots(const unsigned char* ink, unsigned char* dots, int h, int w) {
    std::vector<int> here(w, 0), below(w, 0);
    for (int y = 0; y < h; ++y) {
        for (int x = 0; x < w; ++x) {
            const int value = ink[(size_t)y * w + x] + here[x];
            const int dot = value > 127 ? 255 : 0;
            dots[(size_t)y * w + x] = (unsigned char)dot;
            pass_on(value - dot, x, w, here.data(), below.data());
        }
        here.swap(below);
        below.assign(w, 0);
    }
}

extern "C" void halftone(const unsigned char* ink, unsigned char* dots, int planes, int h, int w) {
    for (int p = 0; p < planes; ++p) {
        plane_to_dots(ink + (size_t)p * h * w, dots + (size_t)p * h * w, h, w);
    }
}
