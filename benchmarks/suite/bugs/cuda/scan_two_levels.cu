// problem: corpus/problems/prefix-sum
// bug: only the first 1024 block sums are scanned: wrong above 1048576 elements
// class: large
#include <cuda_runtime.h>

typedef unsigned long long u64;
#define BLOCK 1024

__device__ u64 block_scan(u64 value) {
    __shared__ u64 warp_sum[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int d = 1; d < 32; d <<= 1) {
        u64 other = __shfl_up_sync(0xffffffffu, value, d);
        if (lane >= d) value += other;
    }
    if (lane == 31) warp_sum[warp] = value;
    __syncthreads();
    if (warp == 0) {
        u64 w = warp_sum[lane];
        for (int d = 1; d < 32; d <<= 1) {
            u64 other = __shfl_up_sync(0xffffffffu, w, d);
            if (lane >= d) w += other;
        }
        warp_sum[lane] = w;
    }
    __syncthreads();
    return warp > 0 ? value + warp_sum[warp - 1] : value;
}

__global__ void scan_blocks(const u64* in, u64* out, u64* sums, long long n) {
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    u64 value = block_scan(i < n ? in[i] : 0);
    if (i < n) out[i] = value;
    if (threadIdx.x == BLOCK - 1) sums[blockIdx.x] = value;
}

__global__ void scan_sums(u64* sums, int count) {
    u64 value = block_scan(threadIdx.x < count ? sums[threadIdx.x] : 0);
    if (threadIdx.x < count) sums[threadIdx.x] = value;
}

__global__ void add_sums(u64* out, const u64* sums, long long n) {
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (blockIdx.x > 0 && i < n) out[i] += sums[blockIdx.x - 1];
}

extern "C" void prefix_sum(const unsigned long long* in, unsigned long long* out, long long n) {
    int blocks = (int)((n + BLOCK - 1) / BLOCK);
    u64 *d_in, *d_out, *d_sums;
    cudaMalloc(&d_in, n * sizeof(u64));
    cudaMalloc(&d_out, n * sizeof(u64));
    cudaMalloc(&d_sums, blocks * sizeof(u64));
    cudaMemcpy(d_in, in, n * sizeof(u64), cudaMemcpyHostToDevice);
    scan_blocks<<<blocks, BLOCK>>>(d_in, d_out, d_sums, n);
    scan_sums<<<1, BLOCK>>>(d_sums, blocks);
    add_sums<<<blocks, BLOCK>>>(d_out, d_sums, n);
    cudaMemcpy(out, d_out, n * sizeof(u64), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    cudaFree(d_sums);
}
