// problem: corpus/problems/spmv
// bug: threads that share a row add to y without atomics: sums of long rows get lost
// class: race
#include <cuda_runtime.h>

#define CHUNK 64

// Each thread takes CHUNK nonzeros, so that long rows do not hold up a warp.
__global__ void spmv_kernel(const int* start, const int* column, const float* value,
                            const float* x, float* y, int rows, int nonzeros) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * CHUNK;
    if (first >= nonzeros) return;
    int last = min(first + CHUNK, nonzeros);

    // last row that starts at or before `first`
    int low = 0, high = rows;
    while (low + 1 < high) {
        int middle = (low + high) / 2;
        if (start[middle] <= first) {
            low = middle;
        } else {
            high = middle;
        }
    }
    int row = low;

    int k = first;
    while (k < last) {
        int end = min(start[row + 1], last);
        float sum = 0.0f;
        for (; k < end; ++k) sum += value[k] * x[column[k]];
        y[row] += sum;
        ++row;
        while (row < rows && start[row + 1] <= k) ++row;
    }
}

extern "C" void spmv(const int* start, const int* column, const float* value, const float* x,
                     float* y, int rows, int nonzeros) {
    int *d_start, *d_column;
    float *d_value, *d_x, *d_y;
    cudaMalloc(&d_start, (rows + 1) * sizeof(int));
    cudaMalloc(&d_column, nonzeros * sizeof(int));
    cudaMalloc(&d_value, nonzeros * sizeof(float));
    cudaMalloc(&d_x, rows * sizeof(float));
    cudaMalloc(&d_y, rows * sizeof(float));
    cudaMemcpy(d_start, start, (rows + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_column, column, nonzeros * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_value, value, nonzeros * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x, rows * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(d_y, 0, rows * sizeof(float));
    int chunks = (nonzeros + CHUNK - 1) / CHUNK;
    if (chunks > 0) {
        spmv_kernel<<<(chunks + 127) / 128, 128>>>(d_start, d_column, d_value, d_x, d_y, rows,
                                                   nonzeros);
    }
    cudaMemcpy(y, d_y, rows * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_start);
    cudaFree(d_column);
    cudaFree(d_value);
    cudaFree(d_x);
    cudaFree(d_y);
}
