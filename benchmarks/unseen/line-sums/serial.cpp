// What a calibration line needs of n weighted readings: six sums and the extremes, in one pass. Readings whose
// weight is not positive are bad and do not count.
#include <cfloat>

struct LineSums {
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, wyy = 0;
    float least_x = FLT_MAX, most_x = -FLT_MAX, least_y = FLT_MAX, most_y = -FLT_MAX;

    void add(float x, float y, float weight) {
        w += weight;
        wx += double(weight) * x;
        wy += double(weight) * y;
        wxx += double(weight) * x * x;
        wxy += double(weight) * x * y;
        wyy += double(weight) * y * y;
        if (x < least_x) least_x = x;
        if (x > most_x) most_x = x;
        if (y < least_y) least_y = y;
        if (y > most_y) most_y = y;
    }
};

extern "C" void line_sums(const float* x, const float* y, const float* weight, double* sums, float* extremes, int n) {
    LineSums total;
    for (int i = 0; i < n; ++i) {
        if (!(weight[i] > 0)) continue;
        total.add(x[i], y[i], weight[i]);
    }
    sums[0] = total.w;
    sums[1] = total.wx;
    sums[2] = total.wy;
    sums[3] = total.wxx;
    sums[4] = total.wxy;
    sums[5] = total.wyy;
    extremes[0] = total.least_x;
    extremes[1] = total.most_x;
    extremes[2] = total.least_y;
    extremes[3] = total.most_y;
}
