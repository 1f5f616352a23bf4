// problem: corpus/problems/nbody
// bug: from 4096 bodies on rsqrtps (12 bits) without a Newton step, cubed: off by up to 1e-3 where distances are alike (two clusters); random positions hide it, as errors cancel
// class: precision
#include <immintrin.h>
#include <cmath>
#include <vector>

static void simple(const float* position, const float* mass, float* acceleration, int n) {
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        float ax = 0, ay = 0, az = 0;
        for (int j = 0; j < n; ++j) {
            const float dx = position[3 * j] - position[3 * i];
            const float dy = position[3 * j + 1] - position[3 * i + 1];
            const float dz = position[3 * j + 2] - position[3 * i + 2];
            const float square = dx * dx + dy * dy + dz * dz + 0.01f;
            const float pull = mass[j] / (square * std::sqrt(square));
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        acceleration[3 * i] = ax;
        acceleration[3 * i + 1] = ay;
        acceleration[3 * i + 2] = az;
    }
}

static inline float total(__m128 v) {
    float a[4];
    _mm_storeu_ps(a, v);
    return (a[0] + a[1]) + (a[2] + a[3]);
}

extern "C" void nbody(const float* position, const float* mass, float* acceleration, int n) {
    if (n < 4096) {
        simple(position, mass, acceleration, n);
        return;
    }
    // Structure of arrays, padded with bodies without mass.
    const int padded = (n + 3) / 4 * 4;
    std::vector<float> x(padded, 0.0f), y(padded, 0.0f), z(padded, 0.0f), m(padded, 0.0f);
    for (int i = 0; i < n; ++i) {
        x[i] = position[3 * i];
        y[i] = position[3 * i + 1];
        z[i] = position[3 * i + 2];
        m[i] = mass[i];
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; ++i) {
        const __m128 xi = _mm_set1_ps(x[i]), yi = _mm_set1_ps(y[i]), zi = _mm_set1_ps(z[i]);
        __m128 ax = _mm_setzero_ps(), ay = ax, az = ax;
        for (int j = 0; j < padded; j += 4) {
            const __m128 dx = _mm_sub_ps(_mm_loadu_ps(&x[j]), xi);
            const __m128 dy = _mm_sub_ps(_mm_loadu_ps(&y[j]), yi);
            const __m128 dz = _mm_sub_ps(_mm_loadu_ps(&z[j]), zi);
            __m128 square = _mm_add_ps(_mm_mul_ps(dx, dx), _mm_mul_ps(dy, dy));
            square = _mm_add_ps(square, _mm_mul_ps(dz, dz));
            square = _mm_add_ps(square, _mm_set1_ps(0.01f));
            const __m128 root = _mm_rsqrt_ps(square);
            const __m128 cube = _mm_mul_ps(root, _mm_mul_ps(root, root));
            const __m128 pull = _mm_mul_ps(_mm_loadu_ps(&m[j]), cube);
            ax = _mm_add_ps(ax, _mm_mul_ps(pull, dx));
            ay = _mm_add_ps(ay, _mm_mul_ps(pull, dy));
            az = _mm_add_ps(az, _mm_mul_ps(pull, dz));
        }
        acceleration[3 * i] = total(ax);
        acceleration[3 * i + 1] = total(ay);
        acceleration[3 * i + 2] = total(az);
    }
}
