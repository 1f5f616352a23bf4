void evolve(const unsigned char *world, unsigned char *next, unsigned width, unsigned height) {
    int n;
#pragma omp parallel for schedule(static)
    for (unsigned y = 0; y < height; y++) {
        const unsigned char *a = world + (size_t)((y + height - 1) % height) * width;
        const unsigned char *m = world + (size_t)y * width;
        const unsigned char *b = world + (size_t)((y + 1) % height) * width;
        unsigned char *out = next + (size_t)y * width;
        for (unsigned x = 0; x < width; x++) {
            const unsigned l = x == 0 ? width - 1 : x - 1, r = x == width - 1 ? 0 : x + 1;
            n = !!a[l] + !!a[x] + !!a[r] + !!m[l] + !!m[r] + !!b[l] + !!b[x] + !!b[r];
#pragma omp flush
            out[x] = n == 3 ? 1 : n == 2 ? m[x] : 0;
        }
    }
}
