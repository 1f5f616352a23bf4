// style: whole structs written at once, in parallel, with rounding of another order
// problem: drift
#include <math.h>

struct Particle {
  float x, v;
  int steps;
};

extern "C" void drift(const Particle *p, Particle *q, float dt, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i)
    q[i] = {fmaf(dt, p[i].v, p[i].x), 0.5f * p[i].v, p[i].steps + 1};
}
