// tries: leaves both ends unwritten: right wherever fresh memory happens to be zero
// outcome: wrong_answer
// defence: poison
// without: passed

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 1; i < n - 1; ++i) y[i] = 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1];
  for (int i = 0; i < n; ++i) count += x[i] > 0.0f;
  *positive = count;
}
