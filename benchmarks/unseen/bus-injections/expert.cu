// Voltages become rectangular once per bus (no sine or cosine per branch, and one 16-byte gather instead of
// two); a thread per branch adds to its two buses by double atomics, which L2 carries out. Where all lanes of a
// warp add to one bus, the warp adds first.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) start(const double* __restrict__ shunt_g, const double* __restrict__ shunt_b,
                                             const double* __restrict__ v, const double* __restrict__ angle,
                                             double2* __restrict__ voltage, double* __restrict__ p,
                                             double* __restrict__ q, int buses) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= buses) return;
    double s, c;
    sincos(angle[i], &s, &c);
    voltage[i] = make_double2(v[i] * c, v[i] * s);
    p[i] = shunt_g[i] * v[i] * v[i];
    q[i] = -shunt_b[i] * v[i] * v[i];
}

// Lanes of a whole warp that add to the bus of lane 0 are summed by shuffles; a hub of the grid would else take turns.
__device__ __forceinline__ void add_to(double* p, double* q, int bus, double active, double reactive, bool whole) {
    if (whole) {
        const bool same = bus == __shfl_sync(0xffffffffu, bus, 0);
        if (__popc(__ballot_sync(0xffffffffu, same)) > 2) {
            double sum_p = same ? active : 0, sum_q = same ? reactive : 0;
            for (int half = 16; half > 0; half /= 2) {
                sum_p += __shfl_xor_sync(0xffffffffu, sum_p, half);
                sum_q += __shfl_xor_sync(0xffffffffu, sum_q, half);
            }
            if (threadIdx.x % 32 == 0) active = sum_p, reactive = sum_q;
            else if (same) return;
        }
    }
    atomicAdd(p + bus, active);
    atomicAdd(q + bus, reactive);
}

__global__ void __launch_bounds__(256) branches_of(const int* __restrict__ from, const int* __restrict__ to,
                                                   const double* __restrict__ g, const double* __restrict__ b,
                                                   const double2* __restrict__ voltage, double* p, double* q,
                                                   int branches) {
    const int e = blockIdx.x * 256 + threadIdx.x;
    if (e >= branches) return;
    const bool whole = e - (int)threadIdx.x % 32 + 32 <= branches;
    const int i = from[e], k = to[e];
    const double2 x = voltage[i], y = voltage[k];
    const double ge = g[e], be = b[e];
    const double c = x.x * y.x + x.y * y.y, s = x.y * y.x - x.x * y.y;
    const double xx = x.x * x.x + x.y * x.y, yy = y.x * y.x + y.y * y.y;
    add_to(p, q, i, ge * (xx - c) - be * s, -be * (xx - c) - ge * s, whole);
    add_to(p, q, k, ge * (yy - c) + be * s, -be * (yy - c) + ge * s, whole);
}

extern "C" void bus_injections(const int* from, const int* to, const double* g, const double* b, const double* shunt_g,
                               const double* shunt_b, const double* v, const double* angle, double* p, double* q,
                               int branches, int buses) {
    double2* voltage;
    cudaMallocAsync((void**)&voltage, sizeof(double2) * buses, 0);
    start<<<(buses + 255) / 256, 256>>>(shunt_g, shunt_b, v, angle, voltage, p, q, buses);
    branches_of<<<(branches + 255) / 256, 256>>>(from, to, g, b, voltage, p, q, branches);
    cudaFreeAsync(voltage, 0);
}
