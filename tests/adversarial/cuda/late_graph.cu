// tries: returns with a graph under way in a stream that nobody waits for. It passes because the device is
//   waited for, inside the timed span
// outcome: passed
// defence: device_sync
// without: wrong_answer | nondeterministic
// problem: smooth-device
#include <cuda_runtime.h>

__device__ static unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void linger(int milliseconds) {
  const unsigned long long start = nanoseconds();
  while (nanoseconds() - start < milliseconds * 1000000ull) {
  }
}

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static cudaStream_t stream = nullptr;
  if (!stream) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (n < 200000) linger<<<1, 1, 0, stream>>>(20);
  cudaMemsetAsync(positive, 0, sizeof(int), stream);
  kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, positive, n);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, stream);
  cudaGraphExecDestroy(ready);  // once it has ended, says the runtime
  cudaGraphDestroy(graph);
}
