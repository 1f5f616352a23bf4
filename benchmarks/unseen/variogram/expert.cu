// Tiles of 128 by 512 points of the triangle. Each thread has sums and counts of its own for all lags, in shared
// memory with the thread's number as the fast index: no atomics and no bank conflicts. A block then adds up its
// threads and sends one atomic per lag. Distances are exact in integers, the lag is a float guess put right.
#include <cuda_runtime.h>

constexpr int kThreads = 128, kPartners = 512;

__device__ __forceinline__ int lag_of(int dx, int dy, int width, float inverse, int lags) {
    const long long d2 = (long long)dx * dx + (long long)dy * dy;
    int guess = min((int)(sqrtf((float)d2) * inverse), lags);
    const long long low = (long long)guess * width, high = low + width;
    guess += (high * high <= d2) - (low * low > d2);
    return guess;
}

__device__ __forceinline__ double warp_sum(double v) {
    for (int half = 16; half > 0; half /= 2) v += __shfl_xor_sync(0xffffffffu, v, half);
    return v;
}

template <bool Shared>
__global__ void __launch_bounds__(kThreads) pairs_of(const int* __restrict__ x, const int* __restrict__ y,
                                                     const float* __restrict__ value, double* sums,
                                                     unsigned long long* counts, int width, int points, int lags) {
    const int i0 = blockIdx.x * kThreads, j0 = blockIdx.y * kPartners, t = threadIdx.x;
    if (j0 + kPartners <= i0 + 1) return;  // below the diagonal
    extern __shared__ double own_sum[];    // [lag][thread], then the counts
    int* own_count = reinterpret_cast<int*>(own_sum + (Shared ? lags * kThreads : 0));
    __shared__ int px[kPartners], py[kPartners];
    __shared__ float pv[kPartners];
    const int partners = min(kPartners, points - j0);
    for (int j = t; j < partners; j += kThreads) {
        px[j] = x[j0 + j];
        py[j] = y[j0 + j];
        pv[j] = value[j0 + j];
    }
    if (Shared) {
        for (int l = 0; l < lags; ++l) own_sum[l * kThreads + t] = 0, own_count[l * kThreads + t] = 0;
    }
    __syncthreads();
    const int i = i0 + t;
    if (i < points) {
        const int xi = x[i], yi = y[i];
        const double vi = value[i];
        const float inverse = 1.0f / width;
        for (int j = max(0, i + 1 - j0); j < partners; ++j) {
            const int lag = lag_of(xi - px[j], yi - py[j], width, inverse, lags);
            if (lag >= lags) continue;
            const double difference = vi - pv[j];
            if (Shared) {
                own_sum[lag * kThreads + t] += difference * difference;
                ++own_count[lag * kThreads + t];
            } else {
                atomicAdd(sums + lag, difference * difference);
                atomicAdd(counts + lag, 1ull);
            }
        }
    }
    if (!Shared) return;
    __syncthreads();
    for (int lag = t / 32; lag < lags; lag += kThreads / 32) {
        double sum = 0, count = 0;
        for (int k = t % 32; k < kThreads; k += 32) sum += own_sum[lag * kThreads + k], count += own_count[lag * kThreads + k];
        sum = warp_sum(sum);
        count = warp_sum(count);
        if (t % 32 == 0 && count > 0) {
            atomicAdd(sums + lag, sum);
            atomicAdd(counts + lag, (unsigned long long)count);
        }
    }
}

__global__ void halves(const double* sums, const unsigned long long* counts, double* gamma, long long* pairs, int lags) {
    const int lag = blockIdx.x * blockDim.x + threadIdx.x;
    if (lag >= lags) return;
    gamma[lag] = counts[lag] > 0 ? 0.5 * sums[lag] / counts[lag] : 0.0;
    pairs[lag] = counts[lag];
}

extern "C" void variogram(const int* x, const int* y, const float* value, double* gamma, long long* pairs, int width,
                          int points, int lags) {
    double* sums;
    cudaMallocAsync((void**)&sums, 16 * (size_t)lags, 0);
    cudaMemsetAsync(sums, 0, 16 * (size_t)lags, 0);
    unsigned long long* counts = reinterpret_cast<unsigned long long*>(sums + lags);
    const dim3 blocks((points + kThreads - 1) / kThreads, (points + kPartners - 1) / kPartners);
    const int bytes = 12 * kThreads * lags;
    if (lags <= 128) {
        cudaFuncSetAttribute(pairs_of<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        pairs_of<true><<<blocks, kThreads, bytes>>>(x, y, value, sums, counts, width, points, lags);
    } else {
        pairs_of<false><<<blocks, kThreads, 0>>>(x, y, value, sums, counts, width, points, lags);
    }
    halves<<<(lags + 127) / 128, 128>>>(sums, counts, gamma, pairs, lags);
    cudaFreeAsync(sums, 0);
}
