#include <cmath>

// acceleration[3*i + d] = sum over j of mass[j] * (p[j] - p[i]) / (|p[j] - p[i]|^2 + softening)^1.5
extern "C" void nbody(const float* position, const float* mass, float* acceleration, int n) {
    const float softening = 0.01f;
    for (int i = 0; i < n; ++i) {
        float ax = 0, ay = 0, az = 0;
        for (int j = 0; j < n; ++j) {
            const float dx = position[3 * j] - position[3 * i];
            const float dy = position[3 * j + 1] - position[3 * i + 1];
            const float dz = position[3 * j + 2] - position[3 * i + 2];
            const float square = dx * dx + dy * dy + dz * dz + softening;
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
