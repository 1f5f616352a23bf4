// problem: corpus/problems/histogram
// bug: t * n overflows int: with 64 threads or more at n = 33554432 (64 * 2^25 = 2^31) parts at the end are lost; right with few threads
// class: shape
#include <omp.h>

extern "C" void histogram(const unsigned char* keys, int* hist, int n) {
    for (int b = 0; b < 256; ++b) hist[b] = 0;
#pragma omp parallel
    {
        int local[256] = {0};
        const int t = omp_get_thread_num();
        const int threads = omp_get_num_threads();
        const int begin = t * n / threads;
        const int end = (t + 1) * n / threads;
        for (int i = begin; i < end; ++i) {
            local[keys[i]]++;
        }
#pragma omp critical
        for (int b = 0; b < 256; ++b) hist[b] += local[b];
    }
}
