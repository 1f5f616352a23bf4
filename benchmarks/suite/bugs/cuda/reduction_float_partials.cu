// problem: corpus/problems/reduction
// bug: block sums are kept as float between two kernels: too coarse for long arrays
// class: precision
#include <cuda_runtime.h>

#define BLOCKS 256
#define THREADS 256

__device__ double block_sum(double sum) {
    __shared__ double shared[THREADS];
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int width = THREADS / 2; width > 0; width >>= 1) {
        if (threadIdx.x < width) shared[threadIdx.x] += shared[threadIdx.x + width];
        __syncthreads();
    }
    return shared[0];
}

__global__ void first_pass(const float* x, float* partial, int n) {
    double sum = 0.0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void second_pass(const float* partial, double* total) {
    double sum = block_sum(partial[threadIdx.x]);
    if (threadIdx.x == 0) *total = sum;
}

extern "C" void reduction(const float* x, double* total, int n) {
    float *d_x, *d_partial;
    double* d_total;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_partial, BLOCKS * sizeof(float));
    cudaMalloc(&d_total, sizeof(double));
    cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice);
    first_pass<<<BLOCKS, THREADS>>>(d_x, d_partial, n);
    second_pass<<<1, BLOCKS>>>(d_partial, d_total);
    cudaMemcpy(total, d_total, sizeof(double), cudaMemcpyDeviceToHost);
    cudaFree(d_x);
    cudaFree(d_partial);
    cudaFree(d_total);
}
