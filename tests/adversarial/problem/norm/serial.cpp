extern "C" double norm(const float *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += double(x[i]) * x[i];
  return sum;
}
