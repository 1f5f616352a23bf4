#include <omp.h>

std::vector<double> moving_average(const std::vector<double>& samples, std::size_t window) {
    const std::size_t n = samples.size();
    std::vector<double> average(n);
    if (n == 0 || window == 0) return average;
    std::vector<double> prefix(n), before(omp_get_max_threads() + 1, 0.0);
#pragma omp parallel
    {
        const std::size_t t = omp_get_thread_num(), all = omp_get_num_threads();
        const std::size_t first = n * t / all, last = n * (t + 1) / all;
        double sum = 0;
        for (std::size_t i = first; i < last; ++i) prefix[i] = sum += samples[i];
        before[t + 1] = sum;
#pragma omp barrier
#pragma omp single
        for (std::size_t k = 1; k <= all; ++k) before[k] += before[k - 1];
        for (std::size_t i = first; i < last; ++i) prefix[i] += before[t];
#pragma omp barrier
        for (std::size_t i = first; i < last; ++i)
            average[i] = i < window ? prefix[i] / static_cast<double>(window)
                                    : (prefix[i] - prefix[i - window]) / static_cast<double>(window);
    }
    return average;
}
