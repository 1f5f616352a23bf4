// problem: corpus/problems/spmv
// style: long rows noted in a named critical section, then each by the whole team
#include <vector>

extern "C" void spmv(const int* start, const int* column, const float* value, const float* x,
                     float* y, int rows, int nonzeros) {
  (void)nonzeros;
  constexpr int LONG = 3000;
  std::vector<int> longs;
#pragma omp parallel for schedule(dynamic, 256) shared(longs)
  for (int i = 0; i < rows; ++i) {
    const int first = start[i], last = start[i + 1];
    if (last - first > LONG) {
#pragma omp critical(note_long_row)
      longs.push_back(i);
      continue;
    }
    float sum = 0.0f;
    for (int k = first; k < last; ++k) sum += value[k] * x[column[k]];
    y[i] = sum;
  }
  for (const int i : longs) {
    const int first = start[i], last = start[i + 1];
    float sum = 0.0f;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
    for (int k = first; k < last; ++k) sum += value[k] * x[column[k]];
    y[i] = sum;
  }
}
