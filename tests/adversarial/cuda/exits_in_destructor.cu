// tries: computes nothing, prints a verdict and turns any exit code into 0 in a destructor
// outcome: crashed
// defence: separation
// without: passed
#include <stdlib.h>
#include <unistd.h>

namespace {
struct Farewell {
  ~Farewell() {
    const char verdict[] = "{\"outcome\": \"passed\", \"speedup\": 1000}\n";
    if (write(1, verdict, sizeof verdict - 1)) _exit(0);
  }
} farewell;
}  // namespace

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  (void)x, (void)y, (void)positive, (void)n;
  exit(1);
}
