#include <cstddef>

// out[y][x] = sum of in[0..y][0..x], modulo 2^32.
extern "C" void integral(const unsigned char* in, unsigned* out, int rows, int cols) {
    for (int y = 0; y < rows; ++y) {
        const unsigned char* row = in + (size_t)y * cols;
        unsigned* result = out + (size_t)y * cols;
        const unsigned* above = result - cols;
        unsigned sum = 0;
        for (int x = 0; x < cols; ++x) {
            sum += row[x];
            result[x] = y > 0 ? sum + above[x] : sum;
        }
    }
}
