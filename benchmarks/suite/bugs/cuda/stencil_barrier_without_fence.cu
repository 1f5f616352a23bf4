// problem: corpus/problems/stencil
// bug: a barrier of its own between blocks has no __threadfence: later sweeps read stale lines of L1
// class: race
#include <cuda_runtime.h>

// All blocks are resident (at most one for each multiprocessor), so they may wait for each other.
__device__ void grid_barrier(unsigned int* arrived, unsigned int target) {
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < target) {
        }
    }
    __syncthreads();
}

__global__ void sweeps_kernel(float* a, float* b, int rows, int cols, int sweeps,
                              unsigned int* arrived) {
    int stride = gridDim.x * blockDim.x;
    float* from = a;
    float* to = b;
    for (int s = 0; s < sweeps; ++s) {
        for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < rows * cols; p += stride) {
            int i = p / cols, j = p % cols;
            float value = from[p];
            if (i > 0 && i < rows - 1 && j > 0 && j < cols - 1) {
                value = 0.2f * (value + from[p - cols] + from[p + cols] + from[p - 1] + from[p + 1]);
            }
            to[p] = value;
        }
        grid_barrier(arrived, (s + 1) * gridDim.x);
        float* swap = from;
        from = to;
        to = swap;
    }
}

extern "C" void stencil(const float* in, float* out, int rows, int cols, int sweeps) {
    size_t bytes = sizeof(float) * rows * cols;
    float *a, *b;
    unsigned int* arrived;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&arrived, sizeof(unsigned int));
    cudaMemset(arrived, 0, sizeof(unsigned int));
    cudaMemcpy(a, in, bytes, cudaMemcpyHostToDevice);
    int device = 0, processors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    int blocks = (rows * cols + 511) / 512;
    if (blocks > processors) blocks = processors;
    sweeps_kernel<<<blocks, 512>>>(a, b, rows, cols, sweeps, arrived);
    cudaMemcpy(out, sweeps % 2 ? b : a, bytes, cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
    cudaFree(arrived);
}
