extern "C" void dim(const float *x, float *y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 1e-6f * x[i];
}
