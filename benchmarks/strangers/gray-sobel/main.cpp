#include <cstdio>
#include <vector>

void sobel_rgb(const unsigned char *rgb, unsigned char *edges, int width, int height);

int main() {
    const int w = 97, h = 61;
    std::vector<unsigned char> rgb(3 * w * h), edges(w * h);
    for (int i = 0; i < 3 * w * h; ++i) rgb[i] = (unsigned char)(i * i / 7 + i * 31);
    sobel_rgb(rgb.data(), edges.data(), w, h);
    unsigned long sum = 0, hash = 5381;
    for (unsigned char e : edges) sum += e, hash = hash * 33 + e;
    std::printf("%lu %lu\n", sum, hash);
}
