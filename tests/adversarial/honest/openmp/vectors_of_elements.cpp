// style: many elements at once in vector extensions, a loop over lanes for the remainder
// problem: relax
typedef float Lanes __attribute__((vector_size(32)));

extern "C" void relax(const float *x, float *y, int n, int steps) {
#pragma omp parallel for
  for (int first = 0; first < n; first += 8) {
    Lanes given = {}, value = {};
    for (int lane = 0; lane < 8 && first + lane < n; ++lane) given[lane] = x[first + lane];
    for (int step = 0; step < steps; ++step) value -= 0.1f * (value * value * value - given);
    for (int lane = 0; lane < 8 && first + lane < n; ++lane) y[first + lane] = value[lane];
  }
}
