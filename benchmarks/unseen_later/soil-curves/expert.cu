// A thread per cell; two logarithms and three exponentials give both curves. The few soils stay in L1.
#include <cuda_runtime.h>

struct Soil {
    double residual, saturated, alpha, n, ks;
};

__global__ void __launch_bounds__(256) curves(const double* __restrict__ head, const int* __restrict__ kind,
                                              const Soil* __restrict__ soils, double* __restrict__ content,
                                              double* __restrict__ conductivity, int cells) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells) return;
    const Soil* soil = soils + kind[c];
    const double h = head[c], low = soil->residual, high = soil->saturated, ks = soil->ks;
    if (h >= 0.0) {
        content[c] = high;
        conductivity[c] = ks;
        return;
    }
    const double n = soil->n, m = 1.0 - 1.0 / n;
    const double power = n * log(-soil->alpha * h);  // of the scaled head to the n
    const double whole = log(1.0 + exp(power));
    const double se = exp(-m * whole), rest = 1.0 - exp(m * (power - whole));
    content[c] = low + (high - low) * se;
    conductivity[c] = ks * sqrt(se) * rest * rest;
}

extern "C" void soil_curves(const double* head, const int* kind, const Soil* soils, double* content,
                            double* conductivity, int cells, int kinds) {
    curves<<<(cells + 255) / 256, 256>>>(head, kind, soils, content, conductivity, cells);
}
