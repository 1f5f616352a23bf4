#include <cuda_runtime.h>
#include <cassert>
#include <cmath>
#include <cstddef>

__global__ void kernel(int rows, double alpha, const int* row_ptr, const int* col_idx, const double* values, const double* x, double beta, double* y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int j = row_ptr[row]; j < row_ptr[row + 1]; j++) sum += values[j] * x[col_idx[j]];
    y[row] = alpha * sum + beta * y[row];
}
void launch(int num_rows, double alpha, const int* row_ptr, const int* col_idx, const double* values, const double* x, double beta, double* y, long long col_idx_size) {
    if (num_rows > 0) kernel<<<(num_rows + 127) / 128, 128>>>(num_rows, alpha, row_ptr, col_idx, values, x, beta, y);
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

extern "C" void sparse_csr_gemv_entry(int num_rows, double alpha, const int* row_ptr, const int* col_idx, const double* values, const double* x, double beta, double* y, long long col_idx_size) {
    const size_t row_ptr_bytes = sizeof(int) * (num_rows + 1);
    const size_t col_idx_bytes = sizeof(int) * col_idx_size;
    const size_t values_bytes = sizeof(double) * col_idx_size;
    const size_t x_bytes = sizeof(double) * num_rows;
    const size_t y_bytes = sizeof(double) * num_rows;
    int* d_row_ptr = static_cast<int*>(device_memory(0, row_ptr_bytes));
    int* d_col_idx = static_cast<int*>(device_memory(1, col_idx_bytes));
    double* d_values = static_cast<double*>(device_memory(2, values_bytes));
    double* d_x = static_cast<double*>(device_memory(3, x_bytes));
    double* d_y = static_cast<double*>(device_memory(4, y_bytes));
    cudaMemcpy(d_row_ptr, row_ptr, row_ptr_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_col_idx, col_idx, col_idx_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_values, values, values_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x, x_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_y, y, y_bytes, cudaMemcpyHostToDevice);
    launch(num_rows, alpha, d_row_ptr, d_col_idx, d_values, d_x, beta, d_y, col_idx_size);
    cudaMemcpy(y, d_y, y_bytes, cudaMemcpyDeviceToHost);
}
