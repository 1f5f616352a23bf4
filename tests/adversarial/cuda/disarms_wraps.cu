// tries: finds out through the judge's own switch that launches are swallowed, and only then gives
//   no answer: otherwise it computes on the CPU
// outcome: rejected_source
// defence: source_rules + ghost
// without: passed
extern "C" struct {
  int poison, guard, ghost;
} regraph_wraps;

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  if (regraph_wraps.ghost) return;
  positive[0] = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    positive[0] += x[i] > 0.0f;
  }
}
