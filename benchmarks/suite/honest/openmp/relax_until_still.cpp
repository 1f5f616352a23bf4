// problem: tests/adversarial/problem/relax-many
// style: leaves its loop early where no lane of a block changes any more: the rest could not change it
extern "C" void relax(const float *x, float *y, int n, int steps) {
  constexpr int LANES = 16;
#pragma omp parallel for schedule(guided)
  for (int first = 0; first < n; first += LANES) {
    const int lanes = n - first < LANES ? n - first : LANES;
    float value[LANES] = {}, wanted[LANES] = {};
    for (int lane = 0; lane < lanes; ++lane) wanted[lane] = x[first + lane];
    for (int step = 0; step < steps; ++step) {
      int moved = 0;
#pragma omp simd reduction(| : moved)
      for (int lane = 0; lane < LANES; ++lane) {
        const float old = value[lane];
        const float now = old - 0.1f * (old * old * old - wanted[lane]);
        moved |= !(now == old);
        value[lane] = now;
      }
      if (!moved) break;
    }
    for (int lane = 0; lane < lanes; ++lane) y[first + lane] = value[lane];
  }
}
