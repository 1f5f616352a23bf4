// style: a sum that is returned, added up by a reduction in another order
// problem: norm

extern "C" double norm(const float *x, int n) {
  double sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += double(x[i]) * x[i];
  return sum;
}
