#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#ifndef CLAMP
#define CLAMP(v, lo, hi) ((v) < (lo) ? (lo) : ((v) > (hi) ? (hi) : (v)))
#endif

struct Image {
    int width, height, channels;
    unsigned char *data;
};

static void to_gray(const unsigned char *rgb, unsigned char *gray, int width, int height) {
    for (int i = 0; i < width * height; i++) {
        const unsigned char *p = rgb + 3 * i;
        gray[i] = (unsigned char)((77 * p[0] + 150 * p[1] + 29 * p[2]) >> 8);
    }
}

/* Edges of an RGB picture: grey, then Sobel; the border of one pixel is black. */
void sobel_rgb(const unsigned char *rgb, unsigned char *edges, int width, int height) {
    static const int kx[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
    static const int ky[3][3] = {{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}};
    unsigned char *gray = (unsigned char *)malloc((size_t)width * height);
    to_gray(rgb, gray, width, height);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            if (y == 0 || x == 0 || y == height - 1 || x == width - 1) {
                edges[y * width + x] = 0;
                continue;
            }
            int gx = 0, gy = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    int v = gray[(y + dy) * width + (x + dx)];
                    gx += kx[dy + 1][dx + 1] * v;
                    gy += ky[dy + 1][dx + 1] * v;
                }
            int magnitude = abs(gx) + abs(gy);
            edges[y * width + x] = CLAMP(magnitude, 0, 255);
        }
    }
    free(gray);
}

bool save_pgm(const std::string &path, const Image &image) {
    FILE *f = fopen(path.c_str(), "wb");
    if (!f) return false;
    fprintf(f, "P5\n%d %d\n255\n", image.width, image.height);
    fwrite(image.data, 1, (size_t)image.width * image.height, f);
    fclose(f);
    return true;
}
