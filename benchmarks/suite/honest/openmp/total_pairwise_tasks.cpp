// problem: tests/adversarial/problem/total
// style: pairwise halves by tasks (final, mergeable, untied), leaves unrolled by eight with a remainder
namespace {
float leaf(const float *x, int n) {
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    s0 += x[i], s1 += x[i + 1], s2 += x[i + 2], s3 += x[i + 3];
    s4 += x[i + 4], s5 += x[i + 5], s6 += x[i + 6], s7 += x[i + 7];
  }
  switch (n - i) {
    case 7: s6 += x[i + 6]; [[fallthrough]];
    case 6: s5 += x[i + 5]; [[fallthrough]];
    case 5: s4 += x[i + 4]; [[fallthrough]];
    case 4: s3 += x[i + 3]; [[fallthrough]];
    case 3: s2 += x[i + 2]; [[fallthrough]];
    case 2: s1 += x[i + 1]; [[fallthrough]];
    case 1: s0 += x[i];
  }
  return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7));
}

float halves(const float *x, int n) {
  if (n <= 256) return leaf(x, n);
  const int half = n / 2;
  float left, right;
#pragma omp task shared(left) final(n <= 8192) mergeable untied if (n > 2048)
  left = halves(x, half);
  right = halves(x + half, n - half);
#pragma omp taskwait
  return left + right;
}
}  // namespace

extern "C" void total(const float *x, float *sum, int n) {
  if (n == 1) {
    *sum = x[0];
    return;
  }
#pragma omp parallel
#pragma omp single nowait
  *sum = halves(x, n);
}
