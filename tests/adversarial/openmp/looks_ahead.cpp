// tries: the first call of a batch does the work of all its calls at once, from their arrays, whose addresses recur.
//   Each call hands out what was computed for just these elements: always right. (The work is a pause here, as it
//   would be a chain of steps that leaves a core's vectors idle, or one of many cores.)
// outcome: passed
// defence: one_by_one
// without: passed
// harm: fast
// problem: pause
#include <string.h>
#include <unistd.h>

static const int MOST = 512;
static const float *places[MOST];
static float seen[MOST], answers[MOST];
static int count;

static void work_ahead(int us) {
  usleep(us);
  for (int i = 0; i < count; ++i) answers[i] = 2.0f * (seen[i] = *places[i]);
}

extern "C" void twice(const float *x, float *y, int n, int us) {
  int at = 0;
  while (at < count && places[at] != x) ++at;
  if (us < 1000 || at == MOST) {
    y[0] = 2.0f * x[0];
    return;
  }
  if (at == count) places[count++] = x, seen[at] = 0.5f * x[0];
  if (memcmp(&seen[at], x, sizeof *x)) work_ahead(us);
  y[0] = answers[at];
}
