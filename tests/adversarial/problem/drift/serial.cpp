struct Particle {
  float x, v;
  int steps;
};

extern "C" void drift(const Particle *p, Particle *q, float dt, int n) {
  for (int i = 0; i < n; ++i) {
    q[i].x = p[i].x + dt * p[i].v;
    q[i].v = 0.5f * p[i].v;
    q[i].steps = p[i].steps + 1;
  }
}
