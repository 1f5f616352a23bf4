// One pass with a reduction of ten variables: the branch becomes a select, so the loop is vector code with
// several accumulators per sum.
#pragma GCC optimize("no-math-errno", "no-trapping-math")  // else roots and selects are not vectorized

#include <cfloat>

extern "C" void line_sums(const float* __restrict x, const float* __restrict y, const float* __restrict weight,
                          double* __restrict sums, float* __restrict extremes, int n) {
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, wyy = 0;
    float least_x = FLT_MAX, most_x = -FLT_MAX, least_y = FLT_MAX, most_y = -FLT_MAX;
#pragma omp parallel for simd schedule(static) simdlen(16) if (n > 20000) reduction(+ : w, wx, wy, wxx, wxy, wyy) \
    reduction(min : least_x, least_y) reduction(max : most_x, most_y)
    for (int i = 0; i < n; ++i) {
        const bool good = weight[i] > 0;
        const float a = good ? x[i] : 0, b = good ? y[i] : 0;
        const double v = good ? weight[i] : 0, va = v * a, vb = v * b;
        w += v;
        wx += va;
        wy += vb;
        wxx += va * a;
        wxy += va * b;
        wyy += vb * b;
        const float low_x = good ? a : FLT_MAX, high_x = good ? a : -FLT_MAX;
        const float low_y = good ? b : FLT_MAX, high_y = good ? b : -FLT_MAX;
        least_x = low_x < least_x ? low_x : least_x;
        most_x = high_x > most_x ? high_x : most_x;
        least_y = low_y < least_y ? low_y : least_y;
        most_y = high_y > most_y ? high_y : most_y;
    }
    sums[0] = w;
    sums[1] = wx;
    sums[2] = wy;
    sums[3] = wxx;
    sums[4] = wxy;
    sums[5] = wyy;
    extremes[0] = least_x;
    extremes[1] = most_x;
    extremes[2] = least_y;
    extremes[3] = most_y;
}
