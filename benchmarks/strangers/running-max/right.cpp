#include <omp.h>
void drawdown(const std::vector<double> &price, std::vector<double> &peak, std::vector<double> &below)
{
    if (price.empty())
        return;
    const std::size_t n = price.size();
    const int most = omp_get_max_threads();
    std::vector<double> high(most, price[0]);
    #pragma omp parallel num_threads(most)
    {
        const std::size_t threads = omp_get_num_threads(), me = omp_get_thread_num();
        const std::size_t first = n * me / threads, last = n * (me + 1) / threads;
        double mine = first < last ? price[first] : price[0];
        for (std::size_t i = first; i < last; ++i) mine = std::max(mine, price[i]);
        high[me] = mine;
        #pragma omp barrier
        double so_far = price[0];
        for (std::size_t t = 0; t < me; ++t) so_far = std::max(so_far, high[t]);
        for (std::size_t i = first; i < last; ++i) {
            so_far = std::max(so_far, price[i]);
            peak[i] = so_far;
            below[i] = (so_far - price[i]) / so_far;
        }
    }
}
