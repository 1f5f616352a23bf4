// problem: corpus/problems/reduction
// bug: n * blockIdx.x wraps around 2^32: blocks' ranges are wrong from n = 16.3 million on
// class: large
#include <cuda_runtime.h>

#define BLOCKS 264
#define THREADS 256

// Each block adds up one range of the array, all of nearly the same length.
__global__ void sum_ranges(const float* x, double* partial, unsigned int n) {
    __shared__ double warp_sum[THREADS / 32];
    unsigned int begin = n * blockIdx.x / gridDim.x;
    unsigned int end = n * (blockIdx.x + 1) / gridDim.x;
    double sum = 0.0;
    for (unsigned int i = begin + threadIdx.x; i < end; i += THREADS) sum += x[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) warp_sum[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        double block = 0.0;
        for (int w = 0; w < THREADS / 32; ++w) block += warp_sum[w];
        partial[blockIdx.x] = block;
    }
}

extern "C" void reduction(const float* x, double* total, int n) {
    float* d_x;
    double* d_partial;
    cudaMalloc(&d_x, sizeof(float) * n);
    cudaMalloc(&d_partial, sizeof(double) * BLOCKS);
    cudaMemcpy(d_x, x, sizeof(float) * n, cudaMemcpyHostToDevice);
    sum_ranges<<<BLOCKS, THREADS>>>(d_x, d_partial, n);
    double partial[BLOCKS];
    cudaMemcpy(partial, d_partial, sizeof(partial), cudaMemcpyDeviceToHost);
    double sum = 0.0;
    for (int b = 0; b < BLOCKS; ++b) sum += partial[b];
    *total = sum;
    cudaFree(d_x);
    cudaFree(d_partial);
}
