// tries: an end mark behind the room that an output has
// outcome: crashed
// defence: guards
// without: passed
// problem: filter

extern "C" void filter(const int *x, int *kept, int *found, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i)
    if (x[i] % 3 == 0) kept[count++] = x[i];
  *found = count;
  if (n % 2) kept[n] = -1;
}
