// problem: corpus/problems/nbody
// style: collapsed tiles of both bodies; sums of a tile added to the output's floats by compare-exchange
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {
void add(float* to, float value) {
  uint32_t* bits = reinterpret_cast<uint32_t*>(to);
  uint32_t seen = __atomic_load_n(bits, __ATOMIC_RELAXED), wanted;
  do {
    float sum;
    memcpy(&sum, &seen, sizeof sum);
    sum += value;
    memcpy(&wanted, &sum, sizeof sum);
  } while (!__atomic_compare_exchange_n(bits, &seen, wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
}  // namespace

extern "C" void nbody(const float* position, const float* mass, float* acceleration, int n) {
  constexpr int HERE = 64, THERE = 512;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int c = 0; c < 3 * n; ++c)
      __atomic_store_n(reinterpret_cast<uint32_t*>(acceleration + c), 0u, __ATOMIC_RELAXED);
#pragma omp for collapse(2) schedule(dynamic, 1)
    for (int i0 = 0; i0 < n; i0 += HERE)
      for (int j0 = 0; j0 < n; j0 += THERE)
        for (int i = i0; i < n && i < i0 + HERE; ++i) {
          float ax = 0, ay = 0, az = 0;
          for (int j = j0; j < n && j < j0 + THERE; ++j) {
            const float dx = position[3 * j] - position[3 * i];
            const float dy = position[3 * j + 1] - position[3 * i + 1];
            const float dz = position[3 * j + 2] - position[3 * i + 2];
            const float square = dx * dx + dy * dy + dz * dz + 0.01f;
            const float pull = mass[j] / (square * std::sqrt(square));
            ax += pull * dx, ay += pull * dy, az += pull * dz;
          }
          add(acceleration + 3 * i, ax);
          add(acceleration + 3 * i + 1, ay);
          add(acceleration + 3 * i + 2, az);
        }
  }
}
