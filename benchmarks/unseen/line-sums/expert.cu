// Two kernels: blocks read 16 bytes per load and fold ten accumulators by shuffles and shared memory; one
// block folds what the blocks left. No atomics, so the result is the same in each call.
#include <cfloat>
#include <cuda_runtime.h>

struct Sums {
    double s[6];
    float low[2], high[2];
};

__device__ __forceinline__ Sums nothing() {
    return {{0, 0, 0, 0, 0, 0}, {FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX}};
}

__device__ __forceinline__ void add(Sums& to, float x, float y, float weight) {
    if (!(weight > 0)) return;
    const double w = weight, wx = w * x, wy = w * y;
    to.s[0] += w;
    to.s[1] += wx;
    to.s[2] += wy;
    to.s[3] += wx * x;
    to.s[4] += wx * y;
    to.s[5] += wy * y;
    to.low[0] = fminf(to.low[0], x);
    to.low[1] = fminf(to.low[1], y);
    to.high[0] = fmaxf(to.high[0], x);
    to.high[1] = fmaxf(to.high[1], y);
}

__device__ __forceinline__ void join(Sums& to, const Sums& other) {
    for (int k = 0; k < 6; ++k) to.s[k] += other.s[k];
    for (int k = 0; k < 2; ++k) {
        to.low[k] = fminf(to.low[k], other.low[k]);
        to.high[k] = fmaxf(to.high[k], other.high[k]);
    }
}

__device__ __forceinline__ void fold_warp(Sums& v) {
#pragma unroll
    for (int half = 16; half > 0; half /= 2) {
        Sums other;
        for (int k = 0; k < 6; ++k) other.s[k] = __shfl_xor_sync(0xffffffffu, v.s[k], half);
        for (int k = 0; k < 2; ++k) {
            other.low[k] = __shfl_xor_sync(0xffffffffu, v.low[k], half);
            other.high[k] = __shfl_xor_sync(0xffffffffu, v.high[k], half);
        }
        join(v, other);
    }
}

// The block's total, in thread 0.
__device__ void fold_block(Sums& v) {
    __shared__ Sums part[8];
    fold_warp(v);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < 8 ? part[threadIdx.x] : nothing();
        fold_warp(v);
    }
}

__global__ void __launch_bounds__(256) gather(const float* __restrict__ x, const float* __restrict__ y,
                                              const float* __restrict__ weight, Sums* parts, int n) {
    Sums v = nothing();
    const int quads = n / 4, step = gridDim.x * 256;
    for (int q = blockIdx.x * 256 + threadIdx.x; q < quads; q += step) {
        const float4 a = reinterpret_cast<const float4*>(x)[q], b = reinterpret_cast<const float4*>(y)[q];
        const float4 w = reinterpret_cast<const float4*>(weight)[q];
        add(v, a.x, b.x, w.x);
        add(v, a.y, b.y, w.y);
        add(v, a.z, b.z, w.z);
        add(v, a.w, b.w, w.w);
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4) {
        const int i = quads * 4 + threadIdx.x;
        add(v, x[i], y[i], weight[i]);
    }
    fold_block(v);
    if (threadIdx.x == 0) parts[blockIdx.x] = v;
}

__global__ void __launch_bounds__(256) finish(const Sums* parts, int count, double* sums, float* extremes) {
    Sums v = nothing();
    for (int i = threadIdx.x; i < count; i += 256) join(v, parts[i]);
    fold_block(v);
    if (threadIdx.x == 0) {
        for (int k = 0; k < 6; ++k) sums[k] = v.s[k];
        for (int k = 0; k < 2; ++k) {
            extremes[2 * k] = v.low[k];
            extremes[2 * k + 1] = v.high[k];
        }
    }
}

extern "C" void line_sums(const float* x, const float* y, const float* weight, double* sums, float* extremes, int n) {
    const int wanted = (n / 4 + 255) / 256, blocks = wanted < 1 ? 1 : wanted > 1056 ? 1056 : wanted;
    Sums* parts;
    cudaMallocAsync((void**)&parts, sizeof(Sums) * blocks, 0);
    gather<<<blocks, 256>>>(x, y, weight, parts, n);
    finish<<<1, 256>>>(parts, blocks, sums, extremes);
    cudaFreeAsync(parts, 0);
}
