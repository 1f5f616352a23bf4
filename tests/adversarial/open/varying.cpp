// style: calls that vary by half, as the data has it: elements are done twice after large ones
extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  const int rounds = x[n / 2] > 0.0f ? 30 : 40;
  int count = 0;
  for (int round = 0; round < rounds; ++round) {
    count = 0;
#pragma omp parallel for reduction(+ : count)
    for (int i = 0; i < n; ++i) {
      y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
      count += x[i] > 0.0f;
    }
  }
  *positive = count;
}
