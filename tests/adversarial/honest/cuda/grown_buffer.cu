// style: host pointers; a buffer class that doubles its room and cleans up in its destructor
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

class Buffer {
 public:
  ~Buffer() { cudaFree(memory); }
  char *of(size_t bytes) {
    if (bytes > room) {
      cudaFree(memory);
      room = 2 * bytes;
      cudaMalloc(&memory, room);
    }
    return memory;
  }

 private:
  char *memory = nullptr;
  size_t room = 0;
};

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static Buffer buffer;
  const size_t bytes = (n * sizeof(float) + 255) / 256 * 256;
  char *memory = buffer.of(2 * bytes + sizeof(int));
  float *dx = reinterpret_cast<float *>(memory), *dy = reinterpret_cast<float *>(memory + bytes);
  int *count = reinterpret_cast<int *>(memory + 2 * bytes);
  cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(dx, dy, count, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(positive, count, sizeof(int), cudaMemcpyDeviceToHost);
}
