// problem: corpus/problems/spmv
// bug: a row cut by the border of two threads gets y[row] += sum from both without atomic: one update is lost when both come at once, above all when one long row spans several threads (2+ threads, nonzeros >= 65536)
// class: race
#include <omp.h>
#include <algorithm>

// Nonzeros are divided evenly, as rows have very different lengths.
extern "C" void spmv(const int* start, const int* column, const float* value, const float* x,
                     float* y, int rows, int nonzeros) {
    if (nonzeros < 65536) {
#pragma omp parallel for schedule(dynamic, 64)
        for (int i = 0; i < rows; ++i) {
            float sum = 0.0f;
            for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k] * x[column[k]];
            y[i] = sum;
        }
        return;
    }
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < rows; ++i) y[i] = 0.0f;

        const int t = omp_get_thread_num(), threads = omp_get_num_threads();
        const int first = (int)((long long)nonzeros * t / threads);
        const int last = (int)((long long)nonzeros * (t + 1) / threads);
        int row = (int)(std::upper_bound(start, start + rows + 1, first) - start) - 1;
        int k = first;
        while (k < last) {
            while (start[row + 1] <= k) ++row;
            const int end = std::min(start[row + 1], last);
            float sum = 0.0f;
            for (; k < end; ++k) sum += value[k] * x[column[k]];
            y[row] += sum;
        }
    }
}
