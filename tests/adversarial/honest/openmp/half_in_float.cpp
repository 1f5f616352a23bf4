// style: halves that are computed with as floats, rounded once
// problem: half

extern "C" void half(const _Float16 *x, _Float16 *y, int n) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) y[i] = static_cast<_Float16>(2.0f * static_cast<float>(x[i]) + 1.0f);
}
