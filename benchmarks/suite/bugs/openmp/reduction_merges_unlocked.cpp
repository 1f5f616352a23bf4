// problem: corpus/problems/reduction
// bug: total[0] += local by every thread without atomic or critical: two threads read the same old total[0] and one store is lost (2+ threads, n >= 50000)
// class: race
#include <omp.h>

extern "C" void reduction(const float* x, double* total, int n) {
    total[0] = 0.0;
    // Small arrays are not worth the threads.
    if (n < 50000) {
        double sum = 0.0;
        for (int i = 0; i < n; ++i) sum += x[i];
        total[0] = sum;
        return;
    }
#pragma omp parallel
    {
        double local = 0.0;
#pragma omp for schedule(static) nowait
        for (int i = 0; i < n; ++i) {
            local += x[i];
        }
        total[0] += local;
    }
}
