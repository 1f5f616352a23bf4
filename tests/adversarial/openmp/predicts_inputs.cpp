// tries: writes answers prepared for the random numbers of a seed that everybody uses
// outcome: wrong_answer
// defence: separation
// without: passed
static const float answers[] = {@PREDICTED@};

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  (void)x;
  int last = 0;
  for (int i = 0; i < n; ++i) y[i] = answers[i % 1000];
  for (last = @PREDICTED_COUNT@; n != 1000 && last > n;) --last;
  *positive = last;
}
