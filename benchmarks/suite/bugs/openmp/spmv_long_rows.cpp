// problem: corpus/problems/spmv
// bug: from 2^21 nonzeros on: a row that covers a whole thread's part is carried to its end by each of them, so its end counts twice (5+ threads with half of all in the first row, 3+ with one row; right with 2)
// class: large
#include <omp.h>
#include <algorithm>
#include <vector>

static float dot(const int* column, const float* value, const float* x, int first, int last) {
    float sum = 0.0f;
    for (int k = first; k < last; ++k) sum += value[k] * x[column[k]];
    return sum;
}

extern "C" void spmv(const int* start, const int* column, const float* value, const float* x,
                     float* y, int rows, int nonzeros) {
    if (nonzeros < (1 << 21)) {
#pragma omp parallel for schedule(dynamic, 128)
        for (int i = 0; i < rows; ++i) y[i] = dot(column, value, x, start[i], start[i + 1]);
        return;
    }
    // Large: as many nonzeros for each thread. What belongs to a row that begins in an earlier
    // thread's part is added afterwards.
    const int most = omp_get_max_threads();
    std::vector<float> carry(most, 0.0f);
    std::vector<int> owner(most, -1);
#pragma omp parallel
    {
        const int t = omp_get_thread_num(), threads = omp_get_num_threads();
        const int first = (int)((long long)nonzeros * t / threads);
        const int last = (int)((long long)nonzeros * (t + 1) / threads);
        int row = (int)(std::lower_bound(start, start + rows, first) - start);
        if (row > 0 && first > 0 && (row == rows || start[row] > first)) {
            owner[t] = row - 1;
            carry[t] = dot(column, value, x, first, start[row]);
        }
        const bool final = t == threads - 1;
        for (; row < rows && (start[row] < last || final); ++row) {
            y[row] = dot(column, value, x, start[row], std::min(start[row + 1], last));
        }
    }
    for (int t = 0; t < most; ++t) {
        if (owner[t] >= 0) y[owner[t]] += carry[t];
    }
}
