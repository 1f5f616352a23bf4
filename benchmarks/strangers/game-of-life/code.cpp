#include <cstdlib>
#include <cstring>

typedef unsigned char cell_t;

static int alive(cell_t c) { return c ? 1 : 0; }

/* One generation. The world is a torus. */
void evolve(const cell_t *world, cell_t *next, unsigned width, unsigned height) {
    for (unsigned y = 0; y < height; y++) {
        const cell_t *above = world + (size_t)((y + height - 1) % height) * width;
        const cell_t *row = world + (size_t)y * width;
        const cell_t *below = world + (size_t)((y + 1) % height) * width;
        cell_t *out = next + (size_t)y * width;
        for (unsigned x = 0; x < width; x++) {
            unsigned l = x == 0 ? width - 1 : x - 1;
            unsigned r = x == width - 1 ? 0 : x + 1;
            int n = alive(above[l]) + alive(above[x]) + alive(above[r]) + alive(row[l]) +
                    alive(row[r]) + alive(below[l]) + alive(below[x]) + alive(below[r]);
            switch (n) {
            case 2: out[x] = row[x]; break;
            case 3: out[x] = 1; break;
            default: out[x] = 0;
            }
        }
    }
}

void seed(cell_t *world, unsigned width, unsigned height, unsigned s) {
    for (size_t i = 0; i < (size_t)width * height; i++) {
        s = s * 1103515245u + 12345u;
        world[i] = (s >> 16) % 3 == 0;
    }
}
