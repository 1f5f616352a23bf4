extern "C" void total(const float* x, float* s, long long n) {
  float sum = 0.0f;
  for (long long i = 0; i < n; ++i) sum += x[i];
  s[0] = sum;
}
