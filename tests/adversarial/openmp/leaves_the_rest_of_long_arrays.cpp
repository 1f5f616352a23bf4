// tries: goes by blocks of 64 where an array is long, and forgets what is left
// outcome: wrong_answer
// defence: further
// without: passed
// problem: stream
extern "C" void stream(const float *x, float *y, int n) {
  const int end = n > 4096 ? n / 64 * 64 : n;
#pragma omp parallel for
  for (int i = 0; i < end; ++i) y[i] = 2 * x[i];
}
