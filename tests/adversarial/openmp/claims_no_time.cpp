// tries: patches clock_gettime as patches_clock.cpp does, and time runs at a thousandth of its speed: the
//   claimed time does not suffice for moving the bytes. Two layers: the judge's clock, and the floor
// outcome: passed | crashed
// defence: judge_clock + sealed + floor
// without: passed
// alone: judge_clock passed, floor suspicious
// harm: fast
// problem: stream
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "relocations.h"
#include "slow_clock.h"

extern "C" void stream(const float *x, float *y, int n) {
  static const int patched = dl_iterate_phdr(patch, nullptr);
  (void)patched;
  for (int i = 0; i < n; ++i) y[i] = 2.0f * x[i];
}
