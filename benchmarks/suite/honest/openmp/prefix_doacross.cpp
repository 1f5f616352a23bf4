// problem: corpus/problems/prefix-sum
// style: doacross: blocks summed in parallel, the carry handed on by ordered depend(sink) and depend(source)
#include <vector>

extern "C" void prefix_sum(const unsigned long long* in, unsigned long long* out, long long n) {
  const long long BLOCK = n / 64 > 1024 ? n / 64 : 1024;  // few waits: libgomp spins in them
  const long long blocks = (n + BLOCK - 1) / BLOCK;
  std::vector<unsigned long long> room(blocks + 1);
  unsigned long long* carry = room.data();  // carry[b]: all before block b
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (long long b = 0; b < blocks; ++b) {
    const long long first = b * BLOCK, last = first + BLOCK < n ? first + BLOCK : n;
    unsigned long long sum = 0;
    for (long long i = first; i < last; ++i) sum += in[i];
#pragma omp ordered depend(sink : b - 1)
    unsigned long long running = carry[b];
    carry[b + 1] = running + sum;
#pragma omp ordered depend(source)
    for (long long i = first; i < last; ++i) out[i] = running += in[i];
  }
}
