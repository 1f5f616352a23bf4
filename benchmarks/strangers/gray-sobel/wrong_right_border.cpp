void sobel_rgb(const unsigned char *rgb, unsigned char *edges, int width, int height) {
    const long w = width, h = height;
    unsigned char *gray = (unsigned char *)malloc((size_t)(w * h));
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (long i = 0; i < w * h; i++)
            gray[i] = (unsigned char)((77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8);
#pragma omp for schedule(static)
        for (long y = 0; y < h; y++) {
            unsigned char *out = edges + y * w;
            if (y == 0 || y == h - 1) {
                for (long x = 0; x < w; x++) out[x] = 0;
                continue;
            }
            const unsigned char *a = gray + (y - 1) * w, *b = a + w, *c = b + w;
            out[0] = 0;
            for (long x = 1; x < w; x++) {
                const int gx = a[x + 1] - a[x - 1] + 2 * (b[x + 1] - b[x - 1]) + c[x + 1] - c[x - 1];
                const int gy = c[x - 1] + 2 * c[x] + c[x + 1] - a[x - 1] - 2 * a[x] - a[x + 1];
                const int m = abs(gx) + abs(gy);
                out[x] = (unsigned char)(m > 255 ? 255 : m);
            }
        }
    }
    free(gray);
}
