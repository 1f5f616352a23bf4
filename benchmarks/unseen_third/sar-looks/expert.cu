// A thread per column of pixels: it sums over the lines of a window, side by side with its neighbours, and the looks
// across are summed in shared memory.
#include <cuda_runtime.h>

struct Complex {
    float re, im;
};

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) looks(const Complex* __restrict__ master, const Complex* __restrict__ slave,
                                                  Complex* __restrict__ interferogram, float* __restrict__ coherence,
                                                  int cols, int down, int across, int slots, int groups) {
    __shared__ float4 sums[kThreads];
    const int windows = kThreads / slots, r = blockIdx.x / groups, first = blockIdx.x % groups * windows;
    const int mine = threadIdx.x / slots, slot = threadIdx.x % slots;
    const size_t width = (size_t)cols * across;
    float4 s = {0, 0, 0, 0};
    if (mine < windows && first + mine < cols) {
        for (int j = slot; j < across; j += slots) {
            const size_t at = (size_t)r * down * width + (size_t)(first + mine) * across + j;
            const float2 *a = (const float2*)master + at, *b = (const float2*)slave + at;
#pragma unroll 5
            for (int i = 0; i < down; ++i) {
                const float2 x = a[i * width], y = b[i * width];
                s.x += x.x * y.x + x.y * y.y;
                s.y += x.y * y.x - x.x * y.y;
                s.z += x.x * x.x + x.y * x.y;
                s.w += y.x * y.x + y.y * y.y;
            }
        }
    }
    sums[threadIdx.x] = s;
    __syncthreads();
    const int c = first + threadIdx.x;
    if (threadIdx.x >= windows || c >= cols) return;
    s = sums[threadIdx.x * slots];
    for (int j = 1; j < slots; ++j) {
        const float4 v = sums[threadIdx.x * slots + j];
        s.x += v.x;
        s.y += v.y;
        s.z += v.z;
        s.w += v.w;
    }
    const size_t at = (size_t)r * cols + c;
    const float power = s.z * s.w, share = 1.0f / (down * across);
    ((float2*)interferogram)[at] = {s.x * share, s.y * share};
    coherence[at] = power > 0.0f ? sqrtf((s.x * s.x + s.y * s.y) / power) : 0.0f;
}

extern "C" void sar_looks(const Complex* master, const Complex* slave, Complex* interferogram, float* coherence,
                          int rows, int cols, int down, int across) {
    const int slots = across < kThreads ? across : kThreads, windows = kThreads / slots;
    const int groups = (cols + windows - 1) / windows;
    looks<<<rows * groups, kThreads>>>(master, slave, interferogram, coherence, cols, down, across, slots, groups);
}
