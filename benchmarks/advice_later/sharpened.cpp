// first openmp: parallel-for loop-collapse
// first cuda: thread-per-element
#include <algorithm>
void sharpen(const unsigned char* in, unsigned char* out, int width, int height) {
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            int up = std::max(y - 1, 0), down = std::min(y + 1, height - 1);
            int left = std::max(x - 1, 0), right = std::min(x + 1, width - 1);
            int sum = 5 * in[y * width + x] - in[up * width + x] - in[down * width + x] -
                      in[y * width + left] - in[y * width + right];
            out[y * width + x] = (unsigned char)std::clamp(sum, 0, 255);
        }
    }
}
