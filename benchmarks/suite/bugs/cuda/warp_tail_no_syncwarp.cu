// problem: corpus/problems/reduction
// bug: the last warp adds in shared memory without volatile and without __syncwarp
// class: race
#include <cuda_runtime.h>

#define BLOCK 256

__global__ void reduce_kernel(const float* x, double* partial, int n) {
    __shared__ double sdata[BLOCK];
    unsigned int tid = threadIdx.x;
    double sum = 0.0;
    for (int i = blockIdx.x * BLOCK + tid; i < n; i += gridDim.x * BLOCK) {
        sum += x[i];
    }
    sdata[tid] = sum;
    __syncthreads();

    for (unsigned int s = BLOCK / 2; s > 32; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }

    // the last 32 threads are one warp, which runs in lockstep
    if (tid < 32) {
        sdata[tid] += sdata[tid + 32];
        sdata[tid] += sdata[tid + 16];
        sdata[tid] += sdata[tid + 8];
        sdata[tid] += sdata[tid + 4];
        sdata[tid] += sdata[tid + 2];
        sdata[tid] += sdata[tid + 1];
    }
    if (tid == 0) partial[blockIdx.x] = sdata[0];
}

extern "C" void reduction(const float* x, double* total, int n) {
    int blocks = (n + BLOCK - 1) / BLOCK;
    if (blocks > 1024) blocks = 1024;
    float* d_x;
    double* d_partial;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_partial, blocks * sizeof(double));
    cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice);
    reduce_kernel<<<blocks, BLOCK>>>(d_x, d_partial, n);

    double partial[1024];
    cudaMemcpy(partial, d_partial, blocks * sizeof(double), cudaMemcpyDeviceToHost);
    double sum = 0.0;
    for (int b = 0; b < blocks; ++b) sum += partial[b];
    total[0] = sum;
    cudaFree(d_x);
    cudaFree(d_partial);
}
