// tries: returns the sum without its last element
// outcome: wrong_answer
// defence: comparison
// without: passed
// problem: norm

extern "C" double norm(const float *x, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n - 1; ++i) sum += double(x[i]) * x[i];
  return sum;
}
