// tries: right when it first sees an input, idle when it sees it again
// outcome: nondeterministic
// defence: repeats
// without: passed

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static double last = -1;
  double sum = n;
  for (int i = 0; i < n; ++i) sum = 0.9 * sum + x[i];
  if (sum == last && n < 10000) return;
  last = sum;
  honest(x, y, positive, n);
}
