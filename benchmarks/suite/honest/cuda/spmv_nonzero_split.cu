// problem: corpus/problems/spmv
// style: threads take equal shares of the nonzeros; a row of several threads is added up by float atomics
#include <cuda_runtime.h>

constexpr int SHARE = 16;

__device__ int row_of(const int *start, int rows, int k) {
  int low = 0, high = rows;  // start[low] <= k < start[high]
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (start[middle] <= k ? low : high) = middle;
  }
  return low;
}

__global__ void multiply(const int *start, const int *column, const float *value, const float *x,
                         float *y, int rows, int nonzeros) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * SHARE;
  if (first >= nonzeros) return;
  const int last = min(first + SHARE, nonzeros);
  int k = first, row = row_of(start, rows, first);
  while (k < last) {
    const int begin = start[row], end = start[row + 1];
    float sum = 0.0f;
    for (const int stop = min(end, last); k < stop; ++k) sum += value[k] * x[column[k]];
    if (begin >= first && end <= last)
      y[row] = sum;  // nobody else has any of this row
    else
      atomicAdd(&y[row], sum);
    do {
      ++row;
    } while (row < rows && start[row + 1] <= k);
  }
}

template <class T>
static T *on_device(const T *host, size_t count) {
  T *copy;
  cudaMalloc(&copy, count * sizeof(T));
  cudaMemcpy(copy, host, count * sizeof(T), cudaMemcpyHostToDevice);
  return copy;
}

extern "C" void spmv(const int *start, const int *column, const float *value, const float *x,
                     float *y, int rows, int nonzeros) {
  int *const s = on_device(start, size_t(rows) + 1), *const c = on_device(column, nonzeros);
  float *const v = on_device(value, nonzeros), *const in = on_device(x, rows), *result;
  cudaMalloc(&result, rows * sizeof(float));
  cudaMemset(result, 0, rows * sizeof(float));  // rows without nonzeros too
  const int shares = (nonzeros + SHARE - 1) / SHARE;
  if (shares) multiply<<<(shares + 255) / 256, 256>>>(s, c, v, in, result, rows, nonzeros);
  cudaMemcpy(y, result, rows * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(s);
  cudaFree(c);
  cudaFree(v);
  cudaFree(in);
  cudaFree(result);
}
