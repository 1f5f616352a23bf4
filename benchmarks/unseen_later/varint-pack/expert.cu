// Lengths of tiles, a scan of them, then every tile at its place: a thread packs eight numbers, a block's scan says
// where, and bytes go out through shared memory, so that stores are coalesced.
#include <cuda_runtime.h>

constexpr int kThreads = 256, kEach = 8, kTile = kThreads * kEach;

__device__ __forceinline__ unsigned zigzag(unsigned d) { return (d << 1) ^ (0u - (d >> 31)); }

__device__ __forceinline__ int length_of(unsigned z) {
    return 1 + (z >= 1u << 7) + (z >= 1u << 14) + (z >= 1u << 21) + (z >= 1u << 28);
}

// The sum over the threads before this one; total: of the block.
__device__ __forceinline__ int before(int own, int* warps, int& total) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, count = blockDim.x / 32;
    int sum = own;
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += other;
    }
    __syncthreads();
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    int earlier = 0;
    total = 0;
    for (int w = 0; w < count; ++w) {
        if (w < warp) earlier += warps[w];
        total += warps[w];
    }
    return earlier + sum - own;
}

__global__ void __launch_bounds__(kThreads) lengths(const int* __restrict__ values, int* __restrict__ of_tile, int n) {
    __shared__ int warps[kThreads / 32];
    int sum = 0;
#pragma unroll
    for (int q = 0; q < kEach; ++q) {
        const int i = blockIdx.x * kTile + q * kThreads + threadIdx.x;
        if (i < n) sum += length_of(zigzag((unsigned)values[i] - (i ? (unsigned)values[i - 1] : 0u)));
    }
    int total;
    before(sum, warps, total);
    if (threadIdx.x == 0) of_tile[blockIdx.x] = total;
}

__global__ void __launch_bounds__(1024) starts(int* __restrict__ of_tile, int* __restrict__ bytes, int tiles) {
    __shared__ int warps[32];
    int carry = 0;
    for (int base = 0; base < tiles; base += 1024) {
        const int t = base + threadIdx.x, own = t < tiles ? of_tile[t] : 0;
        int total;
        const int place = before(own, warps, total);
        if (t < tiles) of_tile[t] = carry + place;
        carry += total;
    }
    if (threadIdx.x == 0) *bytes = carry;
}

__global__ void __launch_bounds__(kThreads) pack(const int* __restrict__ values, const int* __restrict__ start,
                                                 unsigned char* __restrict__ packed, int n) {
    __shared__ int warps[kThreads / 32];
    __shared__ unsigned in[kTile + kTile / 8];  // a gap after 8: threads read eight in a row
    __shared__ unsigned char bytes[5 * kTile];
    const int first = blockIdx.x * kTile, here = min(kTile, n - first);
    for (int e = threadIdx.x; e < here; e += kThreads) in[e + e / 8] = (unsigned)values[first + e];
    __syncthreads();
    const int begin = threadIdx.x * kEach;
    unsigned z[kEach];
    unsigned last = 0;
    if (begin < here && first + begin) last = begin ? in[begin - 1 + (begin - 1) / 8] : (unsigned)values[first - 1];
    int own = 0;
#pragma unroll
    for (int q = 0; q < kEach; ++q) {
        if (begin + q < here) {
            const unsigned value = in[begin + q + threadIdx.x];
            z[q] = zigzag(value - last);
            last = value;
            own += length_of(z[q]);
        }
    }
    int total, at = before(own, warps, total);
#pragma unroll
    for (int q = 0; q < kEach; ++q) {
        if (begin + q < here) {
            unsigned rest = z[q];
            for (; rest >= 0x80; rest >>= 7) bytes[at++] = (unsigned char)(rest | 0x80);
            bytes[at++] = (unsigned char)rest;
        }
    }
    __syncthreads();
    unsigned char* out = packed + start[blockIdx.x];
    for (int e = threadIdx.x; e < total; e += kThreads) out[e] = bytes[e];
}

extern "C" void varint_pack(const int* values, unsigned char* packed, int* bytes, int n) {
    const int tiles = (n + kTile - 1) / kTile;
    int* of_tile;
    cudaMallocAsync(&of_tile, tiles * sizeof(int), 0);
    lengths<<<tiles, kThreads>>>(values, of_tile, n);
    starts<<<1, 1024>>>(of_tile, bytes, tiles);
    pack<<<tiles, kThreads>>>(values, of_tile, packed, n);
    cudaFreeAsync(of_tile, 0);
}
