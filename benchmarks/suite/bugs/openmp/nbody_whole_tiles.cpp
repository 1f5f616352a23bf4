// problem: corpus/problems/nbody
// bug: above 4096 bodies the inner loop goes by whole tiles of 1024: the n % 1024 last bodies pull at nobody (n = 5000; 8192 is right)
// class: large
#include <cmath>

static const int TILE = 1024;

static inline void pull(const float* position, const float* mass, int i, int first, int last,
                        float* a) {
    float ax = 0, ay = 0, az = 0;
    const float x = position[3 * i], y = position[3 * i + 1], z = position[3 * i + 2];
    for (int j = first; j < last; ++j) {
        const float dx = position[3 * j] - x;
        const float dy = position[3 * j + 1] - y;
        const float dz = position[3 * j + 2] - z;
        const float square = dx * dx + dy * dy + dz * dz + 0.01f;
        const float f = mass[j] / (square * std::sqrt(square));
        ax += f * dx;
        ay += f * dy;
        az += f * dz;
    }
    a[0] += ax;
    a[1] += ay;
    a[2] += az;
}

extern "C" void nbody(const float* position, const float* mass, float* acceleration, int n) {
    if (n <= 4096) {  // everything fits into the cache
#pragma omp parallel for
        for (int i = 0; i < n; ++i) {
            float* a = acceleration + 3 * i;
            a[0] = a[1] = a[2] = 0.0f;
            pull(position, mass, i, 0, n, a);
        }
        return;
    }
    const int tiles = n / TILE;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < 3 * n; ++i) acceleration[i] = 0.0f;
        for (int tile = 0; tile < tiles; ++tile) {
#pragma omp for schedule(static)
            for (int i = 0; i < n; ++i) {
                pull(position, mass, i, tile * TILE, (tile + 1) * TILE, acceleration + 3 * i);
            }
        }
    }
}
