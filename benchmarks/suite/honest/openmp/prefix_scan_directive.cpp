// problem: corpus/problems/prefix-sum
// style: OpenMP's own scan directive with an inscan reduction
extern "C" void prefix_sum(const unsigned long long* in, unsigned long long* out, long long n) {
  unsigned long long sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
  for (long long i = 0; i < n; ++i) {
    sum += in[i];
#pragma omp scan inclusive(sum)
    out[i] = sum;
  }
}
