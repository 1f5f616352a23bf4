// style: the serial code with a long critical region: near the serial time
// problem: relax
extern "C" void relax(const float *x, float *y, int n, int steps) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i)
#pragma omp critical
  {
    float value = 0.0f;
    for (int step = 0; step < steps; ++step) value -= 0.1f * (value * value * value - x[i]);
    y[i] = value;
  }
}
