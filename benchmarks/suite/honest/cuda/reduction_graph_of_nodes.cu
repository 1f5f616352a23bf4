// problem: corpus/problems/reduction
// style: a graph put together node by node in each call: memset, two kernels, a copy to pinned memory
#include <cuda_runtime.h>

enum { BLOCKS = 512, THREADS = 256 };

__device__ double of_block(double value) {
  __shared__ double of_warp[THREADS / 32];
  for (int step = 16; step; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0;
  for (int w = 0; w < THREADS / 32; ++w) value += of_warp[w];
  return value;
}

// Blocks without elements leave the zero that the memset put there.
__global__ void parts(const float *x, double *part, int n) {
  const int first = blockIdx.x * THREADS + threadIdx.x;
  if (blockIdx.x * THREADS >= n) return;
  double sum = 0;
  for (int i = first; i < n; i += BLOCKS * THREADS) sum += x[i];
  sum = of_block(sum);
  if (threadIdx.x == 0) part[blockIdx.x] = sum;
}

__global__ void whole(const double *part, double *total) {
  double sum = 0;
  for (int i = threadIdx.x; i < BLOCKS; i += THREADS) sum += part[i];
  sum = of_block(sum);
  if (threadIdx.x == 0) *total = sum;
}

extern "C" void reduction(const float *x, double *total, int n) {
  static double *pinned = nullptr;
  if (!pinned) cudaMallocHost(&pinned, sizeof(double));
  float *d_x;
  double *part;  // and the total behind them
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&part, (BLOCKS + 1) * sizeof(double));
  double *sum = part + BLOCKS;
  cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice);

  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t cleared, first, second, copied;
  cudaMemsetParams zero = {};
  zero.dst = part;
  zero.value = 0;
  zero.elementSize = 4;
  zero.width = BLOCKS * sizeof(double) / 4;
  zero.height = 1;
  cudaGraphAddMemsetNode(&cleared, graph, nullptr, 0, &zero);

  void *first_arguments[] = {&d_x, &part, &n};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void *>(parts);
  kernel.gridDim = dim3(BLOCKS);
  kernel.blockDim = dim3(THREADS);
  kernel.kernelParams = first_arguments;
  cudaGraphAddKernelNode(&first, graph, &cleared, 1, &kernel);

  void *second_arguments[] = {&part, &sum};
  kernel.func = reinterpret_cast<void *>(whole);
  kernel.gridDim = dim3(1);
  kernel.kernelParams = second_arguments;
  cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel);
  cudaGraphAddMemcpyNode1D(&copied, graph, &second, 1, pinned, sum, sizeof(double),
                           cudaMemcpyDeviceToHost);

  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraphLaunch(ready, stream);
  cudaStreamSynchronize(stream);
  *total = *pinned;
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  cudaFree(d_x);
  cudaFree(part);
}
