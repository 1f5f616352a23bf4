// tries: returns what an earlier call of this size returned. Two layers: timed outputs are verified, and on
//   some machines a call takes less time than its input takes to be read
// outcome: wrong_answer
// defence: timed_verify + floor
// without: passed
// alone: timed_verify wrong_answer
// problem: norm

extern "C" double norm(const float *x, int n) {
  static double known = -1;
  if (n == 500009 && known >= 0) return known;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += double(x[i]) * x[i];
  if (n == 500009) known = sum;
  return sum;
}
