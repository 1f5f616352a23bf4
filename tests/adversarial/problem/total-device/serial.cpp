extern "C" void total(const float *x, float *sum, int n) {
  float value = 0.0f;
  for (int i = 0; i < n; ++i) value += x[i];
  *sum = value;
}
