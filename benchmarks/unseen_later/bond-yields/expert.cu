// A thread per bond; value and slope in one pass by Horner's rule, one division per try.
#include <cuda_runtime.h>

__device__ __forceinline__ void discounted(double yield, double coupon, int periods, double& value, double& slope) {
    const double v = 1.0 / (1.0 + yield);
    double a = 100.0, d = 0.0;
    for (int k = 0; k < periods; ++k) {  // a = (coupon + a) v and its derivative by v
        const double sum = a + coupon;
        d = d * v + sum;
        a = sum * v;
    }
    value = a;
    slope = -d * v * v;
}

__global__ void __launch_bounds__(128) yields(const double* __restrict__ price, const double* __restrict__ coupon,
                                              const int* __restrict__ periods, double* __restrict__ yield,
                                              double* __restrict__ duration, int bonds) {
    const int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= bonds) return;
    const double target = price[b], c = coupon[b];
    const int n = periods[b];
    double y = c / 100.0, value, slope;
    for (int tries = 0; tries < 50; ++tries) {
        discounted(y, c, n, value, slope);
        const double step = (value - target) / slope;
        y -= step;
        if (fabs(step) < 1e-11) break;
    }
    discounted(y, c, n, value, slope);
    yield[b] = y;
    duration[b] = -slope / target;
}

extern "C" void bond_yields(const double* price, const double* coupon, const int* periods, double* yield,
                            double* duration, int bonds) {
    yields<<<(bonds + 127) / 128, 128>>>(price, coupon, periods, yield, duration, bonds);
}
