// problem: corpus/problems/histogram
// bug: a byte counts up to 256 keys of a thread: 256 equal ones wrap to 0
// class: value
#include <cuda_runtime.h>

#define THREADS 128
#define PER_THREAD 256
#define CHUNK (THREADS * PER_THREAD)

// Each thread has counters of its own, a byte each, so that there are no atomics in the inner loop.
__global__ void histogram_kernel(const unsigned char* keys, int* hist, int n) {
    __shared__ unsigned char counter[256][THREADS];
    int tid = threadIdx.x;
    for (int b = 0; b < 256; ++b) counter[b][tid] = 0;

    int first = blockIdx.x * CHUNK + tid;
    for (int j = 0; j < PER_THREAD; ++j) {
        int i = first + j * THREADS;
        if (i < n) counter[keys[i]][tid]++;
    }
    __syncthreads();

    for (int b = tid; b < 256; b += THREADS) {
        int sum = 0;
        for (int t = 0; t < THREADS; ++t) sum += counter[b][(t + tid) % THREADS];
        if (sum) atomicAdd(&hist[b], sum);
    }
}

extern "C" void histogram(const unsigned char* keys, int* hist, int n) {
    unsigned char* d_keys;
    int* d_hist;
    cudaMalloc(&d_keys, n);
    cudaMalloc(&d_hist, 256 * sizeof(int));
    cudaMemcpy(d_keys, keys, n, cudaMemcpyHostToDevice);
    cudaMemset(d_hist, 0, 256 * sizeof(int));
    histogram_kernel<<<(n + CHUNK - 1) / CHUNK, THREADS>>>(d_keys, d_hist, n);
    cudaMemcpy(hist, d_hist, 256 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_keys);
    cudaFree(d_hist);
}
