// tries: the last element's imaginary part has the wrong sign
// outcome: wrong_answer
// defence: comparison
// without: passed
// problem: phase
#include <complex>

extern "C" void phase(const std::complex<float> *x, const std::complex<float> *y,
                      std::complex<float> *z, int n) {
  for (int i = 0; i < n; ++i) {
    const float re = x[i].real() * y[i].real() - x[i].imag() * y[i].imag();
    const float im = x[i].real() * y[i].imag() + x[i].imag() * y[i].real();
    z[i] = {re, i == n - 1 ? -im : im};
  }
}
