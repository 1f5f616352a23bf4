#include <cuda_runtime.h>

// y = A x: row i of A has value[k] in column[k] for start[i] <= k < start[i + 1].
__global__ void spmv_kernel(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        float sum = 0.0f;
        for (int k = start[i]; k < start[i + 1]; ++k) {
            sum += value[k] * x[column[k]];
        }
        y[i] = sum;
    }
}

void launch(const int* start, const int* column, const float* value, const float* x, float* y, int rows, int nonzeros) {
    const int threads = 256;
    (void)nonzeros;
    const long long count = rows;
    if (count > 0) {
        spmv_kernel<<<(count + threads - 1) / threads, threads>>>(start, column, value, x, y, rows);
    }
}

// Device memory, kept from call to call and made anew where a call needs more.
// Not for several threads at once.
static void* device_memory(int which, size_t bytes) {
    static void* memory[5];
    static size_t room[5];
    if (bytes > room[which]) {
        cudaFree(memory[which]);
        memory[which] = nullptr;
        room[which] = cudaMalloc(&memory[which], bytes) == cudaSuccess ? bytes : 0;
    }
    return memory[which];
}

extern "C" void spmv(const int* start, const int* column, const float* value, const float* x, float* y, int rows, int nonzeros) {
    const size_t start_bytes = sizeof(int) * (rows + 1);
    const size_t column_bytes = sizeof(int) * nonzeros;
    const size_t value_bytes = sizeof(float) * nonzeros;
    const size_t x_bytes = sizeof(float) * rows;
    const size_t y_bytes = sizeof(float) * rows;
    int* d_start = static_cast<int*>(device_memory(0, start_bytes));
    int* d_column = static_cast<int*>(device_memory(1, column_bytes));
    float* d_value = static_cast<float*>(device_memory(2, value_bytes));
    float* d_x = static_cast<float*>(device_memory(3, x_bytes));
    float* d_y = static_cast<float*>(device_memory(4, y_bytes));
    cudaMemcpy(d_start, start, start_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_column, column, column_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_value, value, value_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x, x_bytes, cudaMemcpyHostToDevice);
    launch(d_start, d_column, d_value, d_x, d_y, rows, nonzeros);
    cudaMemcpy(y, d_y, y_bytes, cudaMemcpyDeviceToHost);
}
