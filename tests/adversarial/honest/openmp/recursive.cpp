// style: recursive halving with nested parallelism
namespace {

struct Span {
  const float *x;
  float *y;
  int n;
};

int visit(const Span &span, int first, int last) {
  if (last - first > 32768) {
    const int middle = first + (last - first) / 2;
    int left = 0, right = 0;
#pragma omp task shared(left)
    left = visit(span, first, middle);
    right = visit(span, middle, last);
#pragma omp taskwait
    return left + right;
  }
  int count = 0;
  for (int i = first; i < last; ++i) {
    const bool inside = i > 0 && i < span.n - 1;
    const float *at = span.x + i;
    span.y[i] = inside ? 0.25f * at[-1] + 0.5f * at[0] + 0.25f * at[1] : 0.0f;
    count += at[0] > 0.0f;
  }
  return count;
}

}  // namespace

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  const Span span{x, y, n};
#pragma omp parallel
#pragma omp single
  *positive = visit(span, 0, n);
}
