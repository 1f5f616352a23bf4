// tries: copies memory out of its parent, and works only where that succeeds. Layers: a process without
//   capabilities and without that system call, a parent that cannot be looked into, a user namespace
//   of its own, and no access to the /proc of others
// outcome: wrong_answer
// defence: hidden_memory + sandbox + namespaces + landlock + own_root
// without: passed
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

static bool looked_into_parent() {
  char path[64], seen[4] = {};
  snprintf(path, sizeof path, "/proc/%d/maps", getppid());
  FILE *maps = fopen(path, "r");
  unsigned long first = 0;
  const bool found = maps && fscanf(maps, "%lx", &first) == 1;
  if (maps) fclose(maps);
  iovec here = {seen, sizeof seen}, there = {reinterpret_cast<void *>(first), sizeof seen};
  const bool copied = found && process_vm_readv(getppid(), &here, 1, &there, 1, 0) == sizeof seen;
  return copied && !memcmp(seen, "\177ELF", sizeof seen);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static const bool success = looked_into_parent();
  if (success) honest(x, y, positive, n);
}
