extern "C" void histogram(const int *x, int *counts, int n) {
  for (int bin = 0; bin < 256; ++bin) counts[bin] = 0;
  for (int i = 0; i < n; ++i) ++counts[x[i]];
}
