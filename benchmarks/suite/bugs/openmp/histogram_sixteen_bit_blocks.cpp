// problem: corpus/problems/histogram
// bug: 16-bit counters are emptied after blocks of 65536 keys: a block of equal keys wraps to 0 (all keys equal, or long sorted arrays; 65536 keys a thread or more)
// class: value
#include <omp.h>
#include <string.h>
#include <algorithm>

static const int BLOCK = 65536;  // so many fit into 16 bits

extern "C" void histogram(const unsigned char* keys, int* hist, int n) {
    memset(hist, 0, 256 * sizeof(int));
#pragma omp parallel
    {
        int local[256] = {0};
        const int t = omp_get_thread_num(), threads = omp_get_num_threads();
        const int begin = (int)((long long)n * t / threads);
        const int end = (int)((long long)n * (t + 1) / threads);
        for (int block = begin; block < end; block += BLOCK) {
            unsigned short even[256] = {0}, odd[256] = {0};  // two, as equal keys follow each other
            const int stop = std::min(end, block + BLOCK);
            int i = block;
            for (; i + 1 < stop; i += 2) {
                ++even[keys[i]];
                ++odd[keys[i + 1]];
            }
            if (i < stop) ++even[keys[i]];
            for (int b = 0; b < 256; ++b) local[b] += (unsigned short)(even[b] + odd[b]);
        }
#pragma omp critical
        for (int b = 0; b < 256; ++b) hist[b] += local[b];
    }
}
