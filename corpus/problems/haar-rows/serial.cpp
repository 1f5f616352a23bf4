#include <cstddef>
#include <vector>

// Three levels of the orthonormal Haar transform of each row of n = 8 * groups elements.
// A row of out holds: n/8 means, n/8 details of level 3, n/4 of level 2, n/2 of level 1.
extern "C" void haar_rows(const float* in, float* out, int rows, int groups) {
    const float scale = 0.70710678f;
    const int n = 8 * groups;
    std::vector<float> now(n), next(n);
    for (int i = 0; i < rows; ++i) {
        const float* from = in + (size_t)i * n;
        float* to = out + (size_t)i * n;
        for (int j = 0; j < n; ++j) {
            now[j] = from[j];
        }
        for (int half = n / 2; half >= groups; half /= 2) {
            for (int j = 0; j < half; ++j) {
                next[j] = (now[2 * j] + now[2 * j + 1]) * scale;
                to[half + j] = (now[2 * j] - now[2 * j + 1]) * scale;
            }
            now.swap(next);
        }
        for (int j = 0; j < groups; ++j) {
            to[j] = now[j];
        }
    }
}
