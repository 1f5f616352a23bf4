// Value and slope in one pass by Horner's rule, which multiplies by the discount of one period and needs one
// division per try; sixteen bonds are the lanes of vectors. A shorter bond starts later in the shared loop.
#include <algorithm>
#include <cmath>

namespace {
constexpr int kWide = 16;

struct Lanes {
    alignas(64) double price[kWide], coupon[kWide], late[kWide], yield[kWide], value[kWide], slope[kWide];
};

// value = sum of coupon v^k + 100 v^periods, slope = its derivative by the yield
void discounted(Lanes& l, int longest) {
    alignas(64) double v[kWide], a[kWide], d[kWide];
#pragma omp simd
    for (int t = 0; t < kWide; ++t) {
        v[t] = 1.0 / (1.0 + l.yield[t]);
        a[t] = 100.0;
        d[t] = 0.0;
    }
    for (int k = 0; k < longest; ++k) {
        const double now = k;
#pragma omp simd
        for (int t = 0; t < kWide; ++t) {  // a = (coupon + a) v and its derivative by v
            const double sum = a[t] + l.coupon[t];
            const bool runs = now >= l.late[t];
            const double slope = d[t] * v[t] + sum, value = sum * v[t];
            d[t] = runs ? slope : d[t];
            a[t] = runs ? value : a[t];
        }
    }
#pragma omp simd
    for (int t = 0; t < kWide; ++t) {
        l.value[t] = a[t];
        l.slope[t] = -d[t] * v[t] * v[t];
    }
}
}  // namespace

extern "C" void bond_yields(const double* __restrict price, const double* __restrict coupon,
                            const int* __restrict periods, double* __restrict yield, double* __restrict duration,
                            int bonds) {
#pragma omp parallel for schedule(static)
    for (int first = 0; first < bonds; first += kWide) {
        const int count = std::min(kWide, bonds - first);
        Lanes l;
        int longest = 0;
        for (int t = 0; t < count; ++t) longest = std::max(longest, periods[first + t]);
        for (int t = 0; t < kWide; ++t) {
            const int b = first + std::min(t, count - 1);  // the last one fills the block
            l.price[t] = price[b];
            l.coupon[t] = coupon[b];
            l.late[t] = longest - periods[b];
            l.yield[t] = coupon[b] / 100.0;
        }
        for (int tries = 0; tries < 50; ++tries) {
            discounted(l, longest);
            double most = 0.0;
#pragma omp simd reduction(max : most)
            for (int t = 0; t < kWide; ++t) {
                const double step = (l.value[t] - l.price[t]) / l.slope[t];
                l.yield[t] -= step;
                most = std::max(most, std::fabs(step));
            }
            if (most < 1e-11) break;
        }
        discounted(l, longest);
        for (int t = 0; t < count; ++t) {
            yield[first + t] = l.yield[t];
            duration[first + t] = -l.slope[t] / l.price[t];
        }
    }
}
