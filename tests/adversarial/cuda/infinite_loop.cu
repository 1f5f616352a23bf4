// tries: never returns
// outcome: timed_out
// defence: deadline
// without: timed_out
// harm: slow
extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  (void)x, (void)y, (void)positive, (void)n;
  for (volatile int forever = 1; forever;) {
  }
}
