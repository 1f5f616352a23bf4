// problem: tests/adversarial/problem/norm
// style: sums in a threadprivate global set by copyin, added by omp atomic; firstprivate and lastprivate about
namespace {
double part = -1.0;
#pragma omp threadprivate(part)
}  // namespace

extern "C" double norm(const float *x, int n) {
  if (n < 2) return n == 1 ? double(x[0]) * x[0] : 0.0;
  double sum = 0;
  int end = 0;
  float scale = 1.0f;
  part = 0.0;
#pragma omp parallel copyin(part) firstprivate(scale) shared(sum)
  {
    const int pairs = n / 2;
#pragma omp for schedule(guided, 64) lastprivate(end)
    for (int p = 0; p < pairs; ++p) {
      const double one = double(scale * x[2 * p]), two = double(scale * x[2 * p + 1]);
      part += one * one + two * two;
      end = 2 * p + 2;
    }
#pragma omp atomic
    sum += part;
  }
  return end < n ? sum + double(x[n - 1]) * x[n - 1] : sum;
}
