// Block matching: for each pixel of the left image the shift at which the window around it differs least from
// the right image (sum of absolute differences; the smallest shift of equals). Without a whole window: 0.
#include <climits>
#include <cstdlib>

static int difference(const unsigned char* left, const unsigned char* right, int cols, int y, int x, int shift,
                      int radius) {
    int sum = 0;
    for (int dy = -radius; dy <= radius; ++dy) {
        const unsigned char* l = left + (y + dy) * cols + x;
        const unsigned char* r = right + (y + dy) * cols + x - shift;
        for (int dx = -radius; dx <= radius; ++dx) sum += std::abs(l[dx] - r[dx]);
    }
    return sum;
}

extern "C" void stereo_disparity(const unsigned char* left, const unsigned char* right, unsigned char* disparity,
                                 int radius, int shifts, int rows, int cols) {
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < cols; ++x) {
            int best = INT_MAX, found = 0;
            if (y >= radius && y < rows - radius && x >= radius && x < cols - radius) {
                for (int s = 0; s < shifts && x - s >= radius; ++s) {
                    const int sum = difference(left, right, cols, y, x, s, radius);
                    if (sum < best) {
                        best = sum;
                        found = s;
                    }
                }
            }
            disparity[y * cols + x] = (unsigned char)found;
        }
    }
}
