// style: the library's own complex product, in parallel
// problem: phase
#include <complex>

extern "C" void phase(const std::complex<float> *x, const std::complex<float> *y,
                      std::complex<float> *z, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) z[i] = x[i] * y[i];
}
