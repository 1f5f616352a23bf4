// problem: corpus/problems/spmv
// style: short rows a thread each; long ones go to a queue on the device, which persistent blocks empty
#include <cuda_runtime.h>

enum { SHORT = 48, THREADS = 128, BLOCKS = 264 };

struct Queue {
  int filled, taken;
};

__global__ void short_rows(const int *start, const int *column, const float *value,
                           const float *x, float *y, int rows, int *queued, Queue *queue) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int begin = start[row], end = start[row + 1];
  if (end - begin > SHORT) {
    queued[atomicAdd(&queue->filled, 1)] = row;
    return;
  }
  float sum = 0.0f;
  for (int k = begin; k < end; ++k) sum = fmaf(value[k], x[column[k]], sum);
  y[row] = sum;
}

__global__ void long_rows(const int *start, const int *column, const float *value, const float *x,
                          float *y, const int *queued, Queue *queue) {
  __shared__ float of_warp[THREADS / 32];
  __shared__ int place;
  const int filled = queue->filled;  // the kernel before this one is over
  for (;;) {
    if (threadIdx.x == 0) place = atomicAdd(&queue->taken, 1);
    __syncthreads();
    if (place >= filled) return;
    const int row = queued[place], end = start[row + 1];
    float sum = 0.0f;
    for (int k = start[row] + threadIdx.x; k < end; k += THREADS) sum += value[k] * x[column[k]];
    for (int step = 16; step; step >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();  // all have read `place` too
    if (threadIdx.x == 0) {
      for (int w = 1; w < THREADS / 32; ++w) sum += of_warp[w];
      y[row] = sum;
    }
  }
}

extern "C" void spmv(const int *start, const int *column, const float *value, const float *x,
                     float *y, int rows, int nonzeros) {
  int *d_start, *d_column, *queued;
  float *d_value, *d_x, *d_y;
  Queue *queue;
  cudaMalloc(&d_start, (size_t(rows) + 1) * sizeof(int));
  cudaMalloc(&d_column, size_t(nonzeros) * sizeof(int));
  cudaMalloc(&d_value, size_t(nonzeros) * sizeof(float));
  cudaMalloc(&d_x, size_t(rows) * sizeof(float));
  cudaMalloc(&d_y, size_t(rows) * sizeof(float));
  cudaMalloc(&queued, size_t(rows) * sizeof(int));
  cudaMalloc(&queue, sizeof(Queue));
  cudaMemset(queue, 0, sizeof(Queue));
  cudaMemcpy(d_start, start, (size_t(rows) + 1) * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_column, column, size_t(nonzeros) * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_value, value, size_t(nonzeros) * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_x, x, size_t(rows) * sizeof(float), cudaMemcpyHostToDevice);
  short_rows<<<(rows + 255) / 256, 256>>>(d_start, d_column, d_value, d_x, d_y, rows, queued,
                                          queue);
  long_rows<<<BLOCKS, THREADS>>>(d_start, d_column, d_value, d_x, d_y, queued, queue);
  cudaMemcpy(y, d_y, size_t(rows) * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(d_start);
  cudaFree(d_column);
  cudaFree(d_value);
  cudaFree(d_x);
  cudaFree(d_y);
  cudaFree(queued);
  cudaFree(queue);
}
