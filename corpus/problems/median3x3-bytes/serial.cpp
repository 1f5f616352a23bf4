#include <algorithm>
#include <cstddef>

// Puts the smaller of two values first.
static inline void order(int& a, int& b) {
    const int low = std::min(a, b), high = std::max(a, b);
    a = low;
    b = high;
}

// The median of nine values by 19 exchanges.
static inline int median9(int* v) {
    order(v[1], v[2]), order(v[4], v[5]), order(v[7], v[8]);
    order(v[0], v[1]), order(v[3], v[4]), order(v[6], v[7]);
    order(v[1], v[2]), order(v[4], v[5]), order(v[7], v[8]);
    order(v[0], v[3]), order(v[5], v[8]), order(v[4], v[7]);
    order(v[3], v[6]), order(v[1], v[4]), order(v[2], v[5]);
    order(v[4], v[7]), order(v[4], v[2]), order(v[6], v[4]);
    order(v[4], v[2]);
    return v[4];
}

// out = median of the 3 x 3 neighbourhood of each pixel; coordinates are clamped to the image.
extern "C" void median3x3(const unsigned char* in, unsigned char* out, int rows, int cols) {
    for (int y = 0; y < rows; ++y) {
        const unsigned char* b = in + (size_t)y * cols;
        const unsigned char* a = y > 0 ? b - cols : b;
        const unsigned char* c = y + 1 < rows ? b + cols : b;
        for (int x = 0; x < cols; ++x) {
            const int l = std::max(x - 1, 0), r = std::min(x + 1, cols - 1);
            int v[9] = {a[l], a[x], a[r], b[l], b[x], b[r], c[l], c[x], c[r]};
            out[(size_t)y * cols + x] = (unsigned char)median9(v);
        }
    }
}
