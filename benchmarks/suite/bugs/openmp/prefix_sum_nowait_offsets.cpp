// problem: corpus/problems/prefix-sum
// bug: 'single nowait' adds up sums[1..] while others already read sums[t - 1]: thread t >= 2 may read it before the single's store (3+ threads, n >= 32768; with 2 threads only sums[0] is read, which does not change)
// class: race
#include <omp.h>
#include <vector>

extern "C" void prefix_sum(const unsigned long long* in, unsigned long long* out, long long n) {
    if (n < 32768) {
        unsigned long long sum = 0;
        for (long long i = 0; i < n; ++i) {
            sum += in[i];
            out[i] = sum;
        }
        return;
    }
    std::vector<unsigned long long> sums;
#pragma omp parallel
    {
        const int t = omp_get_thread_num();
        const int threads = omp_get_num_threads();
#pragma omp single
        sums.assign(threads, 0);

        const long long begin = n * t / threads;
        const long long end = n * (t + 1) / threads;
        unsigned long long sum = 0;
        for (long long i = begin; i < end; ++i) {
            sum += in[i];
            out[i] = sum;
        }
        sums[t] = sum;
#pragma omp barrier
#pragma omp single nowait
        for (int i = 1; i < threads; ++i) {
            sums[i] += sums[i - 1];
        }
        if (t > 0) {
            const unsigned long long offset = sums[t - 1];
            for (long long i = begin; i < end; ++i) {
                out[i] += offset;
            }
        }
    }
}
