// Yield to maturity per period and modified duration of bonds: face value 100, a coupon at the end of each period.
#include <cmath>

static double present_value(double yield, double coupon, int periods) {
    double value = 0.0, discount = 1.0;
    for (int k = 1; k <= periods; ++k) {
        discount /= 1.0 + yield;
        value += coupon * discount;
    }
    return value + 100.0 * discount;
}

static double slope(double yield, double coupon, int periods) {
    double sum = 0.0, discount = 1.0;
    for (int k = 1; k <= periods; ++k) {
        discount /= 1.0 + yield;
        sum += k * coupon * discount;
    }
    return -(sum + periods * 100.0 * discount) / (1.0 + yield);
}

static double solve(double price, double coupon, int periods) {
    double yield = coupon / 100.0;
    for (int tries = 0; tries < 50; ++tries) {
        const double step = (present_value(yield, coupon, periods) - price) / slope(yield, coupon, periods);
        yield -= step;
        if (std::fabs(step) < 1e-11) break;
    }
    return yield;
}

extern "C" void bond_yields(const double* price, const double* coupon, const int* periods, double* yield,
                            double* duration, int bonds) {
    for (int b = 0; b < bonds; ++b) {
        yield[b] = solve(price[b], coupon[b], periods[b]);
        duration[b] = -slope(yield[b], coupon[b], periods[b]) / price[b];
    }
}
