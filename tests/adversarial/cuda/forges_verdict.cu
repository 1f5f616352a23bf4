// tries: computes nothing and prints that it passed
// outcome: wrong_answer
// defence: separation
// without: passed
#include <stdio.h>

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  (void)x, (void)y, (void)positive, (void)n;
  puts("\n{\"outcome\": \"passed\", \"speedup\": 1000}");
  fflush(stdout);
}
