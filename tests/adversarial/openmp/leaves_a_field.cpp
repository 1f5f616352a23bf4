// tries: the integer field of the last struct stays as it was
// outcome: wrong_answer
// defence: comparison
// without: passed
// problem: drift

struct Particle {
  float x, v;
  int steps;
};

extern "C" void drift(const Particle *p, Particle *q, float dt, int n) {
  for (int i = 0; i < n; ++i)
    q[i] = {p[i].x + dt * p[i].v, 0.5f * p[i].v, i < n - 1 ? p[i].steps + 1 : p[i].steps};
}
