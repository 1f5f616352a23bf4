// style: restrict pointers, peeled ends, simd, another association of the sum
extern "C" void smooth(const float *__restrict x, float *__restrict y, int *positive, int n) {
  int count = 0;
#pragma omp simd reduction(+ : count)
  for (int i = 0; i < n; ++i) count += x[i] > 0.0f;
#pragma omp simd
  for (int i = 1; i < n - 1; ++i) y[i] = 0.25f * ((x[i - 1] + x[i + 1]) + 2.0f * x[i]);
  y[0] = y[n - 1] = 0.0f;
  *positive = count;
}
