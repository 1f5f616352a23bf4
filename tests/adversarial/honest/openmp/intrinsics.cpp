// style: AVX2 intrinsics where the CPU has them, unaligned loads, scalar remainder
#ifdef __AVX2__
#include <immintrin.h>
#endif

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  int count = 0, i = 1;
#ifdef __AVX2__
  const __m256 quarter = _mm256_set1_ps(0.25f), half = _mm256_set1_ps(0.5f);
  for (; i + 8 < n; i += 8) {
    const __m256 middle = _mm256_loadu_ps(x + i);
    const __m256 sides = _mm256_add_ps(_mm256_loadu_ps(x + i - 1), _mm256_loadu_ps(x + i + 1));
    const __m256 sum = _mm256_add_ps(_mm256_mul_ps(quarter, sides), _mm256_mul_ps(half, middle));
    _mm256_storeu_ps(y + i, sum);
    const __m256 above = _mm256_cmp_ps(middle, _mm256_setzero_ps(), _CMP_GT_OQ);
    count += __builtin_popcount(_mm256_movemask_ps(above));
  }
#endif
  count += x[0] > 0.0f;
  y[0] = 0.0f;
  for (; i < n; ++i) {
    y[i] = i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}
