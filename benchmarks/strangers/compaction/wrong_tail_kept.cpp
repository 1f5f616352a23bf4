#include <omp.h>
#include <vector>
size_t compact(const float* values, float* out, size_t n, float lo, float hi)
{
    const int most = omp_get_max_threads();
    std::vector<size_t> found(most + 1, 0);
    size_t kept = 0;
    #pragma omp parallel num_threads(most)
    {
        const size_t threads = omp_get_num_threads(), me = omp_get_thread_num();
        const size_t first = n * me / threads, last = n * (me + 1) / threads;
        size_t mine = 0;
        for (size_t i = first; i < last; i++) mine += in_range(values[i], lo, hi);
        found[me + 1] = mine;
        #pragma omp barrier
        #pragma omp single
        {
            for (int t = 0; t < most; t++) found[t + 1] += found[t];
            kept = found[most];
        }
        size_t to = found[me];
        for (size_t i = first; i < last; i++)
            if (in_range(values[i], lo, hi)) out[to++] = values[i];
    }
    for (size_t i = kept + 1; i < n; i++) out[i] = 0.0f;
    return kept;
}
