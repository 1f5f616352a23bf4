// problem: tests/adversarial/problem/matmul
// style: inner dimension divided: outer products into a private C for each thread, schedule(runtime), added up at the end
#include <omp.h>
#include <stddef.h>

#include <vector>

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  const size_t area = static_cast<size_t>(m) * n, stride = area + 32;
  std::vector<float> sums(stride * omp_get_max_threads());
  int team = 1;
#pragma omp parallel shared(team)
  {
    float *own = sums.data() + stride * omp_get_thread_num();
#pragma omp single nowait
    team = omp_get_num_threads();
#pragma omp for schedule(runtime) nowait
    for (int l = 0; l < k; ++l)
      for (int i = 0; i < m; ++i) {
        const float left = a[static_cast<size_t>(i) * k + l];
        const float *right = b + static_cast<size_t>(l) * n;
        float *row = own + static_cast<size_t>(i) * n;
        for (int j = 0; j < n; ++j) row[j] += left * right[j];
      }
#pragma omp barrier
#pragma omp for collapse(2) schedule(runtime)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0.0f;
        for (int t = 0; t < team; ++t) sum += sums[stride * t + static_cast<size_t>(i) * n + j];
        c[static_cast<size_t>(i) * n + j] = sum;
      }
  }
}
