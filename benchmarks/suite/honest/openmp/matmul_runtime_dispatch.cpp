// problem: corpus/problems/matmul
// style: AVX-512, AVX2 or plain code picked once at run time by a function pointer, masked remainders
#include <cstddef>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

// One row of C: c[0..n) = sum over p of a[p] * B[p, 0..n).
using Row = void (*)(const float* a, const float* B, float* c, int n, int k);

void plain(const float* a, const float* B, float* c, int n, int k) {
  for (int j = 0; j < n; ++j) c[j] = 0.0f;
  for (int p = 0; p < k; ++p)
    for (int j = 0; j < n; ++j) c[j] += a[p] * B[static_cast<size_t>(p) * n + j];
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void with_avx2(const float* a, const float* B, float* c, int n,
                                                   int k) {
  int j = 0;
  for (; j + 16 <= n; j += 16) {
    __m256 low = _mm256_setzero_ps(), high = _mm256_setzero_ps();
    const float* b = B + j;
    for (int p = 0; p < k; ++p, b += n) {
      const __m256 left = _mm256_broadcast_ss(a + p);
      low = _mm256_fmadd_ps(left, _mm256_loadu_ps(b), low);
      high = _mm256_fmadd_ps(left, _mm256_loadu_ps(b + 8), high);
    }
    _mm256_storeu_ps(c + j, low);
    _mm256_storeu_ps(c + j + 8, high);
  }
  for (; j < n; j += 8) {
    alignas(32) int lanes[8];
    for (int lane = 0; lane < 8; ++lane) lanes[lane] = j + lane < n ? -1 : 0;
    const __m256i mask = _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes));
    __m256 sum = _mm256_setzero_ps();
    const float* b = B + j;
    for (int p = 0; p < k; ++p, b += n)
      sum = _mm256_fmadd_ps(_mm256_broadcast_ss(a + p), _mm256_maskload_ps(b, mask), sum);
    _mm256_maskstore_ps(c + j, mask, sum);
  }
}

__attribute__((target("avx512f"))) void with_avx512(const float* a, const float* B, float* c, int n,
                                                    int k) {
  for (int j = 0; j < n; j += 16) {
    const __mmask16 mask = n - j >= 16 ? 0xffff : static_cast<__mmask16>((1u << (n - j)) - 1);
    __m512 sum = _mm512_setzero_ps();
    const float* b = B + j;
    for (int p = 0; p < k; ++p, b += n)
      sum = _mm512_fmadd_ps(_mm512_set1_ps(a[p]), _mm512_maskz_loadu_ps(mask, b), sum);
    _mm512_mask_storeu_ps(c + j, mask, sum);
  }
}
#endif

Row picked() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return with_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return with_avx2;
#endif
  return plain;
}

}  // namespace

extern "C" void matmul(const float* A, const float* B, float* C, int m, int n, int k) {
  static const Row row = picked();
#pragma omp parallel for schedule(dynamic, 4)
  for (int i = 0; i < m; ++i)
    row(A + static_cast<size_t>(i) * k, B, C + static_cast<size_t>(i) * n, n, k);
}
