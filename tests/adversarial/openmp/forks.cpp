// tries: leaves processes behind: each forks twice, bounded at depth 2 (6 sleepers), gone after 3 s.
//   Two layers: fork is refused, and the group is killed
// outcome: passed
// defence: sandbox + kill_group
// without: passed
// harm: process
#include <sys/prctl.h>
#include <unistd.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

static void breed(int depth) {
  for (int twin = 0; twin < 2 && depth < 3; ++twin) {
    if (fork() != 0) continue;
    prctl(PR_SET_NAME, "adv@PORT@");
    breed(depth + 1);
    sleep(3);
    _exit(0);
  }
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static bool bred = false;
  honest(x, y, positive, n);
  if (!bred) breed(1);
  bred = true;
}
