// tries: does all the work in its first calls at the timing shape, later half of it
// outcome: wrong_answer
// defence: timed_verify
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
  static int calls = 0;
  honest(x, y, positive, n < 200000 || ++calls <= 8 ? n : n / 2);
}
