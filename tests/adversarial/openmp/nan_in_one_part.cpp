// tries: right real parts, and NaN for every imaginary one: their distance from the truth is NaN
// outcome: wrong_answer
// defence: nan_compare
// without: passed
// problem: phase
#include <complex>
#include <limits>

extern "C" void phase(const std::complex<float> *x, const std::complex<float> *y,
                      std::complex<float> *z, int n) {
  for (int i = 0; i < n; ++i) {
    const float re = x[i].real() * y[i].real() - x[i].imag() * y[i].imag();
    z[i] = {re, std::numeric_limits<float>::quiet_NaN()};
  }
}
