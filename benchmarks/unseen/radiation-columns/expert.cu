// The recurrence flux' = a flux + b is a scan of affine maps: a warp takes a column, 32 layers per step, with
// coalesced loads and five shuffles instead of 32 steps that wait for each other.
#include <cuda_runtime.h>

struct Map {
    float a, b;  // flux -> a flux + b
};

// The composition of the maps of lanes 0 to this one, lane 0 first.
__device__ __forceinline__ Map composed(Map m, int lane) {
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const float a = __shfl_up_sync(0xffffffffu, m.a, d), b = __shfl_up_sync(0xffffffffu, m.b, d);
        if (lane >= d) {
            m.b = m.a * b + m.b;
            m.a *= a;
        }
    }
    return m;
}

__device__ __forceinline__ Map through(const float* tau, const float* emits, int l) {
    const float passes = expf(-1.66f * tau[l]);
    return {passes, emits[l] * (1.0f - passes)};
}

__global__ void __launch_bounds__(256) columns_of(const float* __restrict__ depth, const float* __restrict__ emission,
                                                  const float* __restrict__ albedo, const float* __restrict__ surface,
                                                  float* __restrict__ down, float* __restrict__ up, float top,
                                                  int columns, int layers) {
    const int lane = threadIdx.x % 32, c = blockIdx.x * 8 + threadIdx.x / 32;
    if (c >= columns) return;
    const float *tau = depth + (size_t)c * layers, *emits = emission + (size_t)c * layers;
    float *d = down + (size_t)c * (layers + 1), *u = up + (size_t)c * (layers + 1);

    float flux = top;
    if (lane == 0) d[0] = top;
    for (int first = 0; first < layers; first += 32) {
        const int l = first + lane;
        const Map m = composed(l < layers ? through(tau, emits, l) : Map{1.0f, 0.0f}, lane);
        const float mine = m.a * flux + m.b;
        if (l < layers) d[l + 1] = mine;
        flux = __shfl_sync(0xffffffffu, mine, 31);
    }
    flux = albedo[c] * flux + (1.0f - albedo[c]) * surface[c];
    if (lane == 0) u[layers] = flux;
    for (int last = layers - 1; last >= 0; last -= 32) {  // lane 0 has the lowest layer, next to the surface
        const int l = last - lane;
        const Map m = composed(l >= 0 ? through(tau, emits, l) : Map{1.0f, 0.0f}, lane);
        const float mine = m.a * flux + m.b;
        if (l >= 0) u[l] = mine;
        flux = __shfl_sync(0xffffffffu, mine, 31);
    }
}

extern "C" void radiation_columns(const float* depth, const float* emission, const float* albedo, const float* surface,
                                  float* down, float* up, float top, int columns, int layers) {
    columns_of<<<(columns + 7) / 8, 256>>>(depth, emission, albedo, surface, down, up, top, columns, layers);
}
