// x is copied to shared memory once per block (up to 200 KB), where random reads cost bank conflicts only; a
// warp takes a sample, with four draws in flight per lane. Longer x are read through L1 and L2.
#include <cuda_runtime.h>

constexpr int kThreads = 1024;

__device__ __forceinline__ unsigned mixed(unsigned h) {
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    h ^= h >> 16;
    return h;
}

template <bool Shared>
__global__ void __launch_bounds__(kThreads) resample(const float* __restrict__ x, double* __restrict__ mean,
                                                     unsigned seed, int n, int resamples) {
    extern __shared__ float near[];
    const float* from = x;
    if (Shared) {
        for (int e = threadIdx.x; e < n; e += kThreads) near[e] = x[e];
        __syncthreads();
        from = near;
    }
    const int lane = threadIdx.x % 32;
    for (int b = blockIdx.x + threadIdx.x / 32 * gridDim.x; b < resamples; b += gridDim.x * (kThreads / 32)) {
        const unsigned key = mixed(seed ^ mixed((unsigned)b * 0x9e3779b9u));
        double sum = 0;
        int i = lane;
        for (; i + 96 < n; i += 128) {
            const float p = from[__umulhi(mixed(key + i), n)], q = from[__umulhi(mixed(key + i + 32), n)];
            const float r = from[__umulhi(mixed(key + i + 64), n)], s = from[__umulhi(mixed(key + i + 96), n)];
            sum += ((double)p + q) + ((double)r + s);
        }
        for (; i < n; i += 32) sum += from[__umulhi(mixed(key + i), n)];
        for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, half);
        if (lane == 0) mean[b] = sum / n;
    }
}

extern "C" void bootstrap_means(const float* x, double* mean, unsigned seed, int n, int resamples) {
    const int bytes = n * 4, blocks = resamples < 132 ? resamples : 132;
    if (n <= 50000) {
        cudaFuncSetAttribute(resample<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        resample<true><<<blocks, kThreads, bytes>>>(x, mean, seed, n, resamples);
    } else {
        resample<false><<<blocks, kThreads, 0>>>(x, mean, seed, n, resamples);
    }
}
