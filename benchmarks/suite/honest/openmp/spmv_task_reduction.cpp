// problem: corpus/problems/spmv
// style: taskloop over rows without a group; long rows by tasks with task_reduction and in_reduction
#include <algorithm>

extern "C" void spmv(const int* start, const int* column, const float* value, const float* x,
                     float* y, int rows, int nonzeros) {
  (void)nonzeros;
  constexpr int LONG = 2048, PIECE = 65536;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop nogroup grainsize(1024)
    for (int i = 0; i < rows; ++i) {
      if (start[i + 1] - start[i] > LONG) continue;
      float sum = 0.0f;
      for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k] * x[column[k]];
      y[i] = sum;
    }
    for (int i = 0; i < rows; ++i) {
      const int first = start[i], last = start[i + 1];
      if (last - first <= LONG) continue;
      float sum = 0.0f;
#pragma omp taskgroup task_reduction(+ : sum)
      for (int from = first, to; from < last; from = to) {
        to = last - from > PIECE ? from + PIECE : last;
#pragma omp task in_reduction(+ : sum) firstprivate(from, to)
        {
          float part = 0.0f;
          for (int k = from; k < to; ++k) part += value[k] * x[column[k]];
          sum += part;
        }
      }
      y[i] = sum;
    }
  }
}
