// tries: the right number of rows, the last of them wrong
// outcome: wrong_answer
// defence: comparison
// without: passed
// problem: filter

extern "C" void filter(const int *x, int *kept, int *found, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i)
    if (x[i] % 3 == 0) kept[count++] = x[i];
  *found = count;
  if (count > 0) kept[count - 1] += 3;
}
