// tries: leaves the inputs alone while checked and changes them when timed.
//   Two layers: inputs are compared after the timed calls, and a changed input has another truth
// outcome: mutated_input
// defence: input_compare + timed_verify
// without: passed
// alone: input_compare mutated_input, timed_verify wrong_answer
static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  honest(x, y, positive, n);
  for (int i = 0; i < n && n >= 200000; ++i) const_cast<float *>(x)[i] = 0.5f;
}
