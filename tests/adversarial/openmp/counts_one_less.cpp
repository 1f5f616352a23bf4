// tries: leaves out the last row, and does not count it
// outcome: wrong_answer
// defence: comparison
// without: passed
// problem: filter

extern "C" void filter(const int *x, int *kept, int *found, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i)
    if (x[i] % 3 == 0) kept[count++] = x[i];
  *found = count > 0 ? count - 1 : 0;
}
