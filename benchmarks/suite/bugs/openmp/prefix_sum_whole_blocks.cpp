// problem: corpus/problems/prefix-sum
// bug: from 2^20 elements on it goes by blocks of 1024 and never writes the n % 1024 last elements (2^25 is right)
// class: large
#include <vector>

static const long long BLOCK = 1024;

extern "C" void prefix_sum(const unsigned long long* in, unsigned long long* out, long long n) {
    if (n < (1 << 20)) {
        unsigned long long sum = 0;
        for (long long i = 0; i < n; ++i) {
            sum += in[i];
            out[i] = sum;
        }
        return;
    }
    const long long blocks = n / BLOCK;
    std::vector<unsigned long long> base(blocks + 1, 0);
#pragma omp parallel for schedule(static)
    for (long long b = 0; b < blocks; ++b) {
        unsigned long long sum = 0;
        for (long long i = b * BLOCK; i < (b + 1) * BLOCK; ++i) sum += in[i];
        base[b + 1] = sum;
    }
    for (long long b = 0; b < blocks; ++b) base[b + 1] += base[b];
#pragma omp parallel for schedule(static)
    for (long long b = 0; b < blocks; ++b) {
        unsigned long long sum = base[b];
        for (long long i = b * BLOCK; i < (b + 1) * BLOCK; ++i) {
            sum += in[i];
            out[i] = sum;
        }
    }
}
