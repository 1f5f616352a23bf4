// problem: tests/adversarial/problem/stream
// style: non-temporal stores after a peeled head, one fence for each thread, cuts that no vector fits
#include <omp.h>
#include <stdint.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

extern "C" void stream(const float *x, float *y, int n) {
#pragma omp parallel if (n >= 4096)
  {
    const int me = omp_get_thread_num(), team = omp_get_num_threads();
    int i = int(1LL * n * me / team);
    const int last = int(1LL * n * (me + 1) / team);
#ifdef __AVX__
    for (; i < last && reinterpret_cast<uintptr_t>(y + i) % 32 != 0; ++i) y[i] = 2.0f * x[i];
    const __m256 two = _mm256_set1_ps(2.0f);
    for (; i + 8 <= last; i += 8) {
      _mm_prefetch(reinterpret_cast<const char *>(x + i) + 512, _MM_HINT_NTA);
      _mm256_stream_ps(y + i, _mm256_mul_ps(two, _mm256_loadu_ps(x + i)));
    }
    _mm_sfence();  // before the team's barrier
#endif
    for (; i < last; ++i) y[i] = x[i] + x[i];
  }
}
