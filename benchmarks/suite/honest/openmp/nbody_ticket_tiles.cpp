// problem: corpus/problems/nbody
// style: coordinates apart in aligned memory, tiles of bodies by an atomic ticket, simd reductions
#include <atomic>
#include <cmath>
#include <cstdlib>

extern "C" void nbody(const float* position, const float* mass, float* acceleration, int n) {
  const size_t room = (static_cast<size_t>(n) + 15) / 16 * 16;
  float* apart = static_cast<float*>(std::aligned_alloc(64, 4 * room * sizeof(float)));
  float *x = apart, *y = apart + room, *z = apart + 2 * room, *w = apart + 3 * room;
  std::atomic<int> ticket{0};
#pragma omp parallel shared(ticket)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < n; ++i) {
      x[i] = position[3 * i], y[i] = position[3 * i + 1], z[i] = position[3 * i + 2];
      w[i] = mass[i];
    }
    for (int first; (first = ticket.fetch_add(16, std::memory_order_relaxed)) < n;) {
      const int last = first + 16 < n ? first + 16 : n;
      for (int i = first; i < last; ++i) {
        const float px = x[i], py = y[i], pz = z[i];
        float ax = 0, ay = 0, az = 0;
#pragma omp simd aligned(x, y, z, w : 64) reduction(+ : ax, ay, az)
        for (int j = 0; j < n; ++j) {
          const float dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
          const float square = dx * dx + dy * dy + dz * dz + 0.01f;
          const float pull = w[j] / (square * std::sqrt(square));
          ax += pull * dx, ay += pull * dy, az += pull * dz;
        }
        acceleration[3 * i] = ax, acceleration[3 * i + 1] = ay, acceleration[3 * i + 2] = az;
      }
    }
  }
  std::free(apart);
}
