// The gap between a fast and a slow moving average of each asset's prices; 0 until the slow one has its days.
#include <cstddef>

struct Prices {
    const double* first;
    int days;

    // Mean of the `span` prices that end with the one of `day`.
    double average(int day, int span) const {
        const double* p = first + day + 1;
        const double* stop = p - span;
        double total = 0.0;
        while (p > stop) total += *--p;
        return total / span;
    }
};

extern "C" void trend_gap(const double* price, double* gap, int fast, int slow, int assets, int days) {
    for (int a = 0; a < assets; ++a) {
        const Prices asset = {price + (size_t)a * days, days};
        double* out = gap + (size_t)a * days;
        int day = 0;
        while (day < asset.days) {
            if (day + 1 < slow) {
                out[day] = 0.0;
            } else {
                out[day] = asset.average(day, fast) - asset.average(day, slow);
            }
            ++day;
        }
    }
}
