// A warp per band of 32 rows, each lane two pixels behind the row above it, which hands errors on by shuffles. Bands
// follow each other as soon as the row above has passed on enough: a block waits only for blocks of lower number.
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;

__global__ void __launch_bounds__(32) bands_of(const unsigned char* __restrict__ ink, unsigned char* __restrict__ dots,
                                               int* passed, volatile int* progress, int planes, int bands, int h,
                                               int w) {
    __shared__ unsigned char in[32][33], out[32][33];
    const int lane = threadIdx.x, plane = blockIdx.x % planes, band = blockIdx.x / planes;
    const int rows = min(32, h - 32 * band), steps = w + 64;
    const size_t at = (size_t)plane * h * w + (size_t)band * 32 * w;
    const volatile int* above = passed + ((size_t)plane * (bands + 1) + band) * w;
    volatile int* below = passed + ((size_t)plane * (bands + 1) + band + 1) * w;
    volatile int* mine = progress + (size_t)plane * (bands + 1) + band + 1;
    volatile int* before = mine - 1;
    int right = 0, back1 = 0, down1 = 0, down2 = 0, ahead1 = 0, ahead2 = 0, ahead3 = 0;
    unsigned char next[32];
    auto fetch = [&](int begin) {
#pragma unroll
        for (int r = 0; r < 32; ++r) {
            const int x = begin + lane - 2 * r;
            next[r] = r < rows && x >= 0 && x < w ? ink[at + (size_t)r * w + x] : 0;
        }
    };
    fetch(0);
    for (int begin = 0; begin < steps; begin += 32) {
        __syncwarp();
#pragma unroll
        for (int r = 0; r < 32; ++r) in[r][lane] = next[r];
        int arrived = 0, leaving = 0;
        if (band > 0) {
            if (lane == 0) {
                while (*before < min(w, begin + 32)) {
                }
                __threadfence();
            }
            __syncwarp();
            if (begin + lane < w) arrived = above[begin + lane];
        }
        __syncwarp();
        fetch(begin + 32);
#pragma unroll 4
        for (int j = 0; j < 32; ++j) {
            const int x = begin + j - 2 * lane;
            const int gone = back1 + down2 + ahead3;
            const int from_above = __shfl_up_sync(kAll, gone, 1), from_band = __shfl_sync(kAll, arrived, j);
            const int last = __shfl_sync(kAll, gone, 31);
            if (lane == j) leaving = last;
            const int value = in[lane][j] + right + (lane ? from_above : from_band);
            const int dot = value > 127 ? 255 : 0;
            const int error = x >= 0 && x < w ? value - dot : 0;
            out[lane][j] = (unsigned char)dot;
            right = error * 7 / 16;
            ahead3 = ahead2;
            ahead2 = ahead1;
            down2 = down1;
            back1 = error * 3 / 16;
            down1 = error * 5 / 16;
            ahead1 = error - right - back1 - down1;
        }
        __syncwarp();
        const int x = begin + lane - 64;  // what left the last row in step 64 + x is for pixel x below
        if (x >= 0 && x < w) below[x] = leaving;
        __threadfence();
        __syncwarp();
        if (lane == 0) *mine = begin + 32 - 64;
#pragma unroll
        for (int r = 0; r < 32; ++r) {
            const int q = begin + lane - 2 * r;
            if (r < rows && q >= 0 && q < w) dots[at + (size_t)r * w + q] = out[r][lane];
        }
    }
}

extern "C" void halftone(const unsigned char* ink, unsigned char* dots, int planes, int h, int w) {
    const int bands = (h + 31) / 32;
    int *passed, *progress;
    cudaMallocAsync(&passed, sizeof(int) * (size_t)planes * (bands + 1) * w, 0);
    cudaMallocAsync(&progress, sizeof(int) * (size_t)planes * (bands + 1), 0);
    cudaMemsetAsync(progress, 0, sizeof(int) * (size_t)planes * (bands + 1), 0);
    bands_of<<<planes * bands, 32>>>(ink, dots, passed, progress, planes, bands, h, w);
    cudaFreeAsync(progress, 0);
    cudaFreeAsync(passed, 0);
}
