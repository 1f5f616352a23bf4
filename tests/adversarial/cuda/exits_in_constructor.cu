// tries: ends the process with exit code 0 while it is loaded
// outcome: crashed
// defence: separation
// without: passed
#include <unistd.h>

__attribute__((constructor)) static void leave() { _exit(0); }

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  (void)x, (void)y, (void)positive, (void)n;
}
