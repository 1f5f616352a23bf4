// problem: corpus/problems/nbody
// style: each pair once (action = reaction), sums of each thread in double, added up after a barrier
#include <omp.h>

#include <cmath>
#include <vector>

extern "C" void nbody(const float* position, const float* mass, float* acceleration, int n) {
  const size_t stride = 3 * static_cast<size_t>(n) + 16;
  std::vector<double> sums(stride * omp_get_max_threads());
#pragma omp parallel
  {
    double* own = sums.data() + stride * omp_get_thread_num();
    const int team = omp_get_num_threads();
#pragma omp for schedule(dynamic, 8)
    for (int i = 0; i < n; ++i) {
      double ax = 0, ay = 0, az = 0;
      for (int j = i + 1; j < n; ++j) {
        const float dx = position[3 * j] - position[3 * i];
        const float dy = position[3 * j + 1] - position[3 * i + 1];
        const float dz = position[3 * j + 2] - position[3 * i + 2];
        const float square = dx * dx + dy * dy + dz * dz + 0.01f;
        const float weight = 1.0f / (square * std::sqrt(square));
        const float there = mass[j] * weight, here = mass[i] * weight;
        ax += there * dx, ay += there * dy, az += there * dz;
        own[3 * j] -= here * dx, own[3 * j + 1] -= here * dy, own[3 * j + 2] -= here * dz;
      }
      own[3 * i] += ax, own[3 * i + 1] += ay, own[3 * i + 2] += az;
    }
#pragma omp for schedule(static)
    for (int c = 0; c < 3 * n; ++c) {
      double sum = 0;
      for (int t = 0; t < team; ++t) sum += sums[stride * t + c];
      acceleration[c] = static_cast<float>(sum);
    }
  }
}
