// problem: corpus/problems/reduction
// style: chunks go through pinned buffers and four streams, memory by cudaMallocAsync, double atomics
#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>

namespace {

constexpr int STREAMS = 4;
constexpr int CHUNK = 1 << 20;

__global__ void add(const float *x, int count, double *total) {
  double sum = 0.0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += static_cast<double>(x[i]);
  for (int step = 16; step > 0; step >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if ((threadIdx.x & 31) == 0) atomicAdd(total, sum);
}

struct Lane {
  cudaStream_t stream = nullptr;
  float *pinned = nullptr, *device = nullptr;
};

}  // namespace

extern "C" void reduction(const float *x, double *total, int n) {
  const int room = std::min(n, CHUNK);
  Lane lanes[STREAMS];
  double *sum;
  cudaMalloc(&sum, sizeof(double));
  cudaMemset(sum, 0, sizeof(double));
  cudaDeviceSynchronize();  // the streams below do not wait for the default one
  for (Lane &lane : lanes) {
    cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking);
    cudaMallocHost(&lane.pinned, room * sizeof(float));
    cudaMallocAsync(&lane.device, room * sizeof(float), lane.stream);
  }
  int turn = 0;
  for (int at = 0; at < n; at += std::min(CHUNK, n - at)) {
    Lane &lane = lanes[turn++ % STREAMS];
    const int count = std::min(CHUNK, n - at);
    cudaStreamSynchronize(lane.stream);  // its buffer is free again
    std::memcpy(lane.pinned, x + at, count * sizeof(float));
    cudaMemcpyAsync(lane.device, lane.pinned, count * sizeof(float), cudaMemcpyHostToDevice,
                    lane.stream);
    add<<<128, 256, 0, lane.stream>>>(lane.device, count, sum);
  }
  for (Lane &lane : lanes) {
    cudaFreeAsync(lane.device, lane.stream);
    cudaStreamSynchronize(lane.stream);
    cudaStreamDestroy(lane.stream);
    cudaFreeHost(lane.pinned);
  }
  cudaMemcpy(total, sum, sizeof(double), cudaMemcpyDeviceToHost);
  cudaFree(sum);
}
