// problem: corpus/problems/prefix-sum
// bug: parts are counted by omp_get_max_threads() but the team may be smaller (called in a parallel region, OMP_THREAD_LIMIT, OMP_DYNAMIC): the parts of missing threads are never written
// class: team
#include <omp.h>
#include <algorithm>
#include <vector>

extern "C" void prefix_sum(const unsigned long long* in, unsigned long long* out, long long n) {
    const int threads = omp_get_max_threads();
    std::vector<unsigned long long> sums(threads + 1, 0);
    const long long chunk = (n + threads - 1) / threads;
#pragma omp parallel
    {
        const int t = omp_get_thread_num();
        const long long begin = std::min(n, t * chunk);
        const long long end = std::min(n, begin + chunk);
        unsigned long long sum = 0;
        for (long long i = begin; i < end; ++i) {
            sum += in[i];
            out[i] = sum;
        }
        sums[t + 1] = sum;
#pragma omp barrier
#pragma omp single
        for (int i = 1; i <= threads; ++i) {
            sums[i] += sums[i - 1];
        }
        const unsigned long long offset = sums[t];
        for (long long i = begin; i < end; ++i) {
            out[i] += offset;
        }
    }
}
