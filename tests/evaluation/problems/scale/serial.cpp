extern "C" void scale(const float* x, float* y, float a, int n) {
  for (int i = 0; i < n; ++i) y[i] = a * x[i];
}
