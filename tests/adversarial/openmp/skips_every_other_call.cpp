// tries: at the timing shape does every other call only, in the hope that the others are not verified
// outcome: wrong_answer
// defence: timed_verify
// without: passed
extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static unsigned calls;
  if (n >= 200000 && calls++ % 2) return;
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}
