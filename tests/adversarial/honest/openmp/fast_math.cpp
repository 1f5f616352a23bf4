// style: fast-math by attribute, non-temporal habits: prefetch, unrolled by four
#pragma GCC optimize("fast-math,unroll-loops")

extern "C" __attribute__((hot)) void smooth(const float *x, float *y, int *positive, int n) {
  int counts[4] = {};
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    __builtin_prefetch(x + i + 64 < x + n ? x + i + 64 : x);
    for (int lane = 0; lane < 4; ++lane) {
      const int at = i + lane;
      const bool inside = at > 0 && at < n - 1;
      y[at] = inside ? (x[at - 1] + x[at] + x[at] + x[at + 1]) * 0.25f : 0.0f;
      counts[lane] += x[at] > 0.0f;
    }
  }
  for (; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? (x[i - 1] + x[i] + x[i] + x[i + 1]) * 0.25f : 0.0f;
    counts[0] += x[i] > 0.0f;
  }
  *positive = counts[0] + counts[1] + counts[2] + counts[3];
}
