// problem: corpus/problems/spmv
// bug: from 2^20 rows on x is kept as float16 so that it fits the cache: off by 5e-4, 0 below 3e-8, infinite above 65504
// class: precision
#include <vector>

extern "C" void spmv(const int* start, const int* column, const float* value, const float* x,
                     float* y, int rows, int nonzeros) {
    (void)nonzeros;
    if (rows < (1 << 20)) {
#pragma omp parallel for schedule(dynamic, 256)
        for (int i = 0; i < rows; ++i) {
            float sum = 0.0f;
            for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k] * x[column[k]];
            y[i] = sum;
        }
        return;
    }
    // The gathers from x are what takes the time: a vector of half the size stays in L2.
    std::vector<_Float16> half(rows);
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < rows; ++i) half[i] = (_Float16)x[i];
#pragma omp for schedule(dynamic, 1024)
        for (int i = 0; i < rows; ++i) {
            float sum = 0.0f;
            for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k] * (float)half[column[k]];
            y[i] = sum;
        }
    }
}
