#include <omp.h>

struct Pair {
    uint32_t key;
    float value;
};

void sort_by_key(std::vector<uint32_t>& keys, std::vector<float>& values) {
    const long n = (long)keys.size();
    std::vector<Pair> now(n), next(n);
#pragma omp parallel for
    for (long i = 0; i < n; ++i) now[i] = Pair{keys[i], values[i]};
    // least significant digit first, each pass stable: every thread has its own part and counts
    const int threads = omp_get_max_threads();
    std::vector<long> count(256L * threads);
    for (int shift = 0; shift < 32; shift += 8) {
        std::fill(count.begin(), count.end(), 0L);
#pragma omp parallel num_threads(threads)
        {
            const int t = omp_get_thread_num(), all = omp_get_num_threads();
            const long first = n * t / all, last = n * (t + 1) / all;
            for (long i = first; i < last; ++i) ++count[(now[i].key >> shift & 255) * threads];
#pragma omp barrier
#pragma omp single
            {
                long sum = 0;
                for (long& c : count) {
                    const long here = c;
                    c = sum;
                    sum += here;
                }
            }
            for (long i = first; i < last; ++i)
                next[count[(now[i].key >> shift & 255) * threads]++] = now[i];
        }
        std::swap(now, next);
    }
#pragma omp parallel for
    for (long i = 0; i < n; ++i) {
        keys[i] = now[i].key;
        values[i] = now[i].value;
    }
}
