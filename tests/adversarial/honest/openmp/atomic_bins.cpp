// style: one atomic an element, a template for the loop, guided schedule
// problem: histogram
template <typename Visit>
static void each(int n, Visit visit) {
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < n; ++i) visit(i);
}

extern "C" void histogram(const int *x, int *counts, int n) {
  each(256, [=](int bin) { counts[bin] = 0; });
  each(n, [=](int i) { __atomic_fetch_add(&counts[x[i]], 1, __ATOMIC_RELAXED); });
}
