// problem: corpus/problems/prefix-sum
// bug: decoupled look-back publishes a value and its flag without __threadfence, and reads values through L1
// class: race
#include <cuda_runtime.h>

typedef unsigned long long u64;

constexpr int THREADS = 256;
constexpr int ITEMS = 8;
constexpr int TILE = THREADS * ITEMS;
constexpr int WARPS = THREADS / 32;

// Single-pass scan: tile t waits for its predecessors.
// flag: 0 nothing yet, 1 aggregate is there, 2 inclusive prefix is there.
__global__ void scan_kernel(const u64* in, u64* out, long long n, volatile int* flag,
                            u64* aggregate, u64* inclusive, int* ticket) {
    __shared__ u64 warp_sum[WARPS];
    __shared__ u64 before;
    __shared__ int my_tile;

    if (threadIdx.x == 0) my_tile = atomicAdd(ticket, 1);
    __syncthreads();
    const int tile = my_tile;
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const long long base = static_cast<long long>(tile) * TILE + threadIdx.x * ITEMS;

    u64 local[ITEMS];
    u64 sum = 0;
    for (int k = 0; k < ITEMS; ++k) {
        if (base + k < n) sum += in[base + k];
        local[k] = sum;
    }

    u64 scanned = sum;
    for (int d = 1; d < 32; d *= 2) {
        const u64 other = __shfl_up_sync(0xffffffffu, scanned, d);
        if (lane >= d) scanned += other;
    }
    if (lane == 31) warp_sum[warp] = scanned;
    __syncthreads();

    u64 offset = scanned - sum;
    u64 total = 0;
    for (int w = 0; w < WARPS; ++w) {
        if (w < warp) offset += warp_sum[w];
        total += warp_sum[w];
    }

    if (threadIdx.x == 0) {
        u64 prefix = 0;
        if (tile > 0) {
            aggregate[tile] = total;
            flag[tile] = 1;
            for (int p = tile - 1;; --p) {
                int state;
                do {
                    state = flag[p];
                } while (state == 0);
                if (state == 2) {
                    prefix += inclusive[p];
                    break;
                }
                prefix += aggregate[p];
            }
        }
        inclusive[tile] = prefix + total;
        flag[tile] = 2;
        before = prefix;
    }
    __syncthreads();

    for (int k = 0; k < ITEMS; ++k) {
        if (base + k < n) out[base + k] = before + offset + local[k];
    }
}

extern "C" void prefix_sum(const unsigned long long* in, unsigned long long* out, long long n) {
    const int tiles = static_cast<int>((n + TILE - 1) / TILE);
    u64 *d_in, *d_out, *aggregate, *inclusive;
    int* flags;
    cudaMalloc(&d_in, n * sizeof(u64));
    cudaMalloc(&d_out, n * sizeof(u64));
    cudaMalloc(&aggregate, tiles * sizeof(u64));
    cudaMalloc(&inclusive, tiles * sizeof(u64));
    cudaMalloc(&flags, (tiles + 1) * sizeof(int));
    cudaMemcpy(d_in, in, n * sizeof(u64), cudaMemcpyHostToDevice);
    cudaMemset(flags, 0, (tiles + 1) * sizeof(int));
    scan_kernel<<<tiles, THREADS>>>(d_in, d_out, n, flags, aggregate, inclusive, flags + tiles);
    cudaMemcpy(out, d_out, n * sizeof(u64), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    cudaFree(aggregate);
    cudaFree(inclusive);
    cudaFree(flags);
}
