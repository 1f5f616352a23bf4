// problem: tests/adversarial/problem/total
// bug: sets flush-to-zero and denormals-are-zero for speed: tiny values (1e-40) add up to 0, and the mode stays on in the caller
// class: other
#include <immintrin.h>

extern "C" void total(const float *x, float *sum, int n) {
  double whole = 0;
#pragma omp parallel reduction(+ : whole)
  {
    // Denormals are slow.
    _mm_setcsr(_mm_getcsr() | 0x8040);
#pragma omp for simd schedule(static)
    for (int i = 0; i < n; ++i) whole += x[i];
  }
  *sum = (float)whole;
}
