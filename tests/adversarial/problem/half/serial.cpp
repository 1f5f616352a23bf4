extern "C" void half(const _Float16 *x, _Float16 *y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] + x[i] + static_cast<_Float16>(1.0f);
}
