// style: a graph captured, instantiated, launched and destroyed in each call
// problem: smooth-device
#include <cuda_runtime.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

static cudaGraph_t captured(const float *x, float *y, int *positive, int n, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  cudaMemsetAsync(positive, 0, sizeof(int), stream);
  kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, positive, n);
  cudaStreamEndCapture(stream, &graph);
  return graph;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph = captured(x, y, positive, n, stream);
  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, stream);
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}
