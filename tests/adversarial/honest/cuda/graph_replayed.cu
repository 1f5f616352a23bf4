// style: a graph for each set of pointers, captured once and replayed
// problem: smooth-device
#include <cuda_runtime.h>
#include <map>
#include <tuple>

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
  static std::map<std::tuple<const float *, float *, int *, int>, cudaGraphExec_t> ready;
  static cudaStream_t stream = nullptr;
  if (!stream) cudaStreamCreate(&stream);
  cudaGraphExec_t &graph = ready[{x, y, positive, n}];
  if (!graph) cudaGraphInstantiate(&graph, captured(x, y, positive, n, stream), 0);
  cudaGraphLaunch(graph, stream);
  cudaStreamSynchronize(stream);
}
