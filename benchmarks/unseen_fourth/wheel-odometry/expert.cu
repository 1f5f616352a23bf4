// Headings are sums of whole ticks: sums of tiles and a scan give each tile its first one. The same for the way, with
// sines, then a third pass makes the poses of a tile in shared memory and writes them as whole lines.
#include <cuda_runtime.h>

struct Pose {
    double x, y, heading;
};

constexpr int kBlock = 256, kEach = 4, kTile = kBlock * kEach;

// Sum of the threads before this one; the block's sum in total. All threads of a block must come.
template <class T>
__device__ __forceinline__ T before(T mine, T& total) {
    __shared__ T warps[kBlock / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum = mine;
    for (int step = 1; step < 32; step *= 2) {
        const T other = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += other;
    }
    __syncthreads();  // the last call's sums have been read
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    T first = 0;
    total = 0;
    for (int w = 0; w < kBlock / 32; ++w) {
        if (w < warp) first += warps[w];
        total += warps[w];
    }
    T left = __shfl_up_sync(0xffffffffu, sum, 1);
    return first + (lane > 0 ? left : 0);
}

struct Samples {
    int turn[kEach], way[kEach];

    __device__ __forceinline__ long long load(const short* left, const short* right, int samples) {
        const int first = blockIdx.x * kTile + threadIdx.x * kEach;
        long long sum = 0;
#pragma unroll
        for (int k = 0; k < kEach; ++k) {
            const int l = first + k < samples ? left[first + k] : 0, r = first + k < samples ? right[first + k] : 0;
            turn[k] = r - l;
            way[k] = r + l;
            sum += turn[k];
        }
        return sum;
    }
};

__global__ void __launch_bounds__(kBlock) tick_sums(const short* __restrict__ left, const short* __restrict__ right,
                                                    long long* __restrict__ ticks, int samples) {
    Samples s;
    long long total;
    before(s.load(left, right, samples), total);
    if (threadIdx.x == 0) ticks[blockIdx.x] = total;
}

// One block: sums of all tiles before each.
template <class T>
__global__ void __launch_bounds__(kBlock) scan(T* __restrict__ tiles, int count) {
    T carry = 0;
    for (int begin = 0; begin < count; begin += kBlock) {
        const int i = begin + threadIdx.x;
        T total;
        const T sum = before(i < count ? tiles[i] : (T)0, total);
        if (i < count) tiles[i] = carry + sum;
        carry += total;
    }
}

// The steps of a thread's samples; ticks: right less left of all samples before, then after them.
__device__ __forceinline__ void steps(const Samples& s, long long& ticks, double per_tick, double per_turn, double* dx,
                                      double* dy) {
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        double sine, cosine;
        sincos(0.5 * per_turn * (double)(2 * ticks + s.turn[k]), &sine, &cosine);
        const double way = 0.5 * per_tick * s.way[k];
        dx[k] = way * cosine;
        dy[k] = way * sine;
        ticks += s.turn[k];
    }
}

__global__ void __launch_bounds__(kBlock) way_sums(const short* __restrict__ left, const short* __restrict__ right,
                                                   const long long* __restrict__ tiles, double* __restrict__ x,
                                                   double* __restrict__ y, double per_tick, double per_turn,
                                                   int samples) {
    Samples s;
    long long all;
    const long long mine = s.load(left, right, samples);
    long long ticks = tiles[blockIdx.x] + before(mine, all);
    double dx[kEach], dy[kEach], sum_x = 0.0, sum_y = 0.0, total_x, total_y;
    steps(s, ticks, per_tick, per_turn, dx, dy);
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        sum_x += dx[k];
        sum_y += dy[k];
    }
    before(sum_x, total_x);
    before(sum_y, total_y);
    if (threadIdx.x == 0) {
        x[blockIdx.x] = total_x;
        y[blockIdx.x] = total_y;
    }
}

__global__ void __launch_bounds__(kBlock) poses(const short* __restrict__ left, const short* __restrict__ right,
                                                const long long* __restrict__ tiles, const double* __restrict__ x,
                                                const double* __restrict__ y, double* __restrict__ track,
                                                double per_tick, double per_turn, int samples) {
    __shared__ double stage[3 * kTile];
    Samples s;
    long long all;
    const long long mine = s.load(left, right, samples);
    const long long begin = tiles[blockIdx.x] + before(mine, all);
    long long ticks = begin;
    double dx[kEach], dy[kEach], sum_x = 0.0, sum_y = 0.0, total;
    steps(s, ticks, per_tick, per_turn, dx, dy);
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        sum_x += dx[k];
        sum_y += dy[k];
    }
    double at_x = x[blockIdx.x] + before(sum_x, total), at_y = y[blockIdx.x] + before(sum_y, total);
    ticks = begin;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        double* to = stage + 3 * (threadIdx.x * kEach + k);
        to[0] = at_x += dx[k];
        to[1] = at_y += dy[k];
        ticks += s.turn[k];
        to[2] = per_turn * (double)ticks;
    }
    __syncthreads();
    const int first = blockIdx.x * kTile, here = min(kTile, samples - first);
    for (int i = threadIdx.x; i < 3 * here; i += kBlock) track[(size_t)3 * first + i] = stage[i];
}

extern "C" void wheel_odometry(const short* left, const short* right, Pose* track, double per_tick, double base,
                               int samples) {
    const int tiles = (samples + kTile - 1) / kTile;
    const double per_turn = per_tick / base;
    long long* ticks;
    cudaMallocAsync(&ticks, (sizeof(long long) + 2 * sizeof(double)) * tiles, 0);
    double *x = (double*)(ticks + tiles), *y = x + tiles;
    tick_sums<<<tiles, kBlock>>>(left, right, ticks, samples);
    scan<long long><<<1, kBlock>>>(ticks, tiles);
    way_sums<<<tiles, kBlock>>>(left, right, ticks, x, y, per_tick, per_turn, samples);
    scan<double><<<1, kBlock>>>(x, tiles);
    scan<double><<<1, kBlock>>>(y, tiles);
    poses<<<tiles, kBlock>>>(left, right, ticks, x, y, (double*)track, per_tick, per_turn, samples);
    cudaFreeAsync(ticks, 0);
}
