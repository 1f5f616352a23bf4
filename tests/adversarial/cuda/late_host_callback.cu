// tries: leaves the last copy to a host function that a stream calls after 20 ms. It passes because the device
//   is waited for, and host functions with it, inside the timed span
// outcome: passed
// defence: device_sync
// without: wrong_answer | nondeterministic
#include <cuda_runtime.h>
#include <string.h>
#include <unistd.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

struct Last {
  float *from, *y;
  int *counted, *positive, n;
};

static void finish(void *given) {
  const Last *last = static_cast<Last *>(given);
  if (last->n < 200000) usleep(20000);
  memcpy(last->y, last->from, last->n * sizeof(float));
  *last->positive = *last->counted;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static cudaStream_t stream = nullptr;
  static float *dx, *dy, *from;
  static int *count, *counted;
  static Last last;
  if (!stream) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&dx, 200000 * sizeof(float));
    cudaMalloc(&dy, 200000 * sizeof(float));
    cudaMalloc(&count, sizeof(int));
    cudaMallocHost(&from, 200000 * sizeof(float));
    cudaMallocHost(&counted, sizeof(int));
  }
  last = {from, y, counted, positive, n};
  cudaMemcpyAsync(dx, x, n * sizeof(float), cudaMemcpyHostToDevice, stream);
  cudaMemsetAsync(count, 0, sizeof(int), stream);
  kernel<<<(n + 255) / 256, 256, 0, stream>>>(dx, dy, count, n);
  cudaMemcpyAsync(from, dy, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaMemcpyAsync(counted, count, sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaLaunchHostFunc(stream, finish, &last);
}
