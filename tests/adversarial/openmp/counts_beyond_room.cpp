// tries: says that there are more rows than there is room for: what lies behind would be read
// outcome: wrong_answer
// defence: comparison
// without: passed
// problem: filter

extern "C" void filter(const int *x, int *kept, int *found, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i)
    if (x[i] % 3 == 0) kept[count++] = x[i];
  *found = count + 1000000000;
}
