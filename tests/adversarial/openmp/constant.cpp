// tries: zero for every input, where the truth is within the tolerance of zero
// outcome: wrong_answer
// defence: sensitivity
// without: passed
// problem: dim

extern "C" void dim(const float *, float *y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 0.0f;
}
