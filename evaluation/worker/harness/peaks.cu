// Measures what a GPU reaches: bandwidth of its memory and second-level cache, fused multiply-adds,
// pinned copies in each direction. Prints one line of JSON. Every figure
// is the best of several repetitions, by CUDA events.
// Not covered: tensor cores, copies in both directions at once, more than one GPU.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>

namespace {

constexpr int THREADS = 256, REPEATS = 10, CHAINS = 8, MULTIPLY_PASSES = 16384;
constexpr size_t MiB = 1 << 20;
constexpr double CACHED_BYTES = 1e9;  // moved by one launch that measures the cache

void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(2);
}

__device__ size_t first() { return blockIdx.x * size_t(blockDim.x) + threadIdx.x; }

// The loads and stores go past the first-level cache (.cg): it is not what is measured.
__global__ void read(const float4 *from, size_t count, int passes, float *sink) {
  const size_t stride = size_t(gridDim.x) * blockDim.x;
  float sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
#pragma unroll 4
    for (size_t i = first(); i < count; i += stride) {
      const float4 value = __ldcg(from + i);
      sum += value.x + value.y + value.z + value.w;
    }
  }
  if (sum == 1.2345e-30f) *sink = sum;
}

__global__ void copy(const float4 *__restrict__ from, float4 *__restrict__ to, size_t count,
                     int passes) {
  const size_t stride = size_t(gridDim.x) * blockDim.x;
  for (int pass = 0; pass < passes; ++pass) {
#pragma unroll 4
    for (size_t i = first(); i < count; i += stride) __stcg(to + i, __ldcg(from + i));
  }
}

__global__ void write(float4 *to, size_t count, int passes) {
  const size_t stride = size_t(gridDim.x) * blockDim.x;
  for (int pass = 0; pass < passes; ++pass) {
#pragma unroll 4
    for (size_t i = first(); i < count; i += stride) __stcg(to + i, make_float4(pass, 1, 2, 3));
  }
}

template <typename T>
__global__ void multiply_add(T x, T y, int passes, T *sink) {
  T sum[CHAINS];
  for (int j = 0; j < CHAINS; ++j) sum[j] = T(threadIdx.x + j);
#pragma unroll 16
  for (int pass = 0; pass < passes; ++pass)
    for (int j = 0; j < CHAINS; ++j) sum[j] = sum[j] * x + y;
  T total = 0;
  for (int j = 0; j < CHAINS; ++j) total += sum[j];
  if (total == T(1.2345e-30)) *sink = total;
}

// The shortest duration of `work`, in seconds, after two runs to warm up.
template <typename Work>
double best(const Work &work) {
  cudaEvent_t start, end;
  check(cudaEventCreate(&start), "event");
  check(cudaEventCreate(&end), "event");
  double least = 1e300;
  for (int i = 0; i < REPEATS + 2; ++i) {
    float milliseconds = 0;
    check(cudaEventRecord(start), "event");
    work();
    check(cudaEventRecord(end), "event");
    check(cudaGetLastError(), "launch");
    check(cudaEventSynchronize(end), "kernel");
    check(cudaEventElapsedTime(&milliseconds, start, end), "event");
    if (i >= 2) least = std::min(least, milliseconds * 1e-3);
  }
  check(cudaEventDestroy(start), "event");
  check(cudaEventDestroy(end), "event");
  return least;
}

// Bytes a second over a working set: the best of reading, copying and writing it.
double bandwidth(char *memory, size_t bytes, int blocks, int passes) {
  float4 *data = reinterpret_cast<float4 *>(memory);
  const size_t count = bytes / sizeof(float4), half = count / 2;
  float *sink = reinterpret_cast<float *>(memory);
  const double seconds[] = {
      best([&] { read<<<blocks, THREADS>>>(data, count, passes, sink); }),
      best([&] { copy<<<blocks, THREADS>>>(data, data + half, half, passes); }),
      best([&] { write<<<blocks, THREADS>>>(data, count, passes); }),
  };
  return double(bytes) * passes / *std::min_element(seconds, seconds + 3);
}

template <typename T>
double flops(char *memory, int blocks) {
  T *sink = reinterpret_cast<T *>(memory);
  const double seconds = best([&] {
    multiply_add<T><<<blocks, THREADS>>>(T(0.5), T(0.25), MULTIPLY_PASSES, sink);
  });
  return 2.0 * CHAINS * MULTIPLY_PASSES * THREADS * blocks / seconds;
}

double transfer(char *memory, char *host, size_t bytes, bool inward) {
  const double seconds = best([&] {
    check(inward ? cudaMemcpyAsync(memory, host, bytes, cudaMemcpyHostToDevice)
                 : cudaMemcpyAsync(host, memory, bytes, cudaMemcpyDeviceToHost),
          "copy");
  });
  return bytes / seconds;
}

}  // namespace

extern "C" void regraph_peaks() {
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "device");
  size_t free_bytes = 0, all_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &all_bytes), "memory");
  const size_t cache = std::max<size_t>(device.l2CacheSize, MiB);
  const size_t large = std::min(std::clamp(16 * cache, 512 * MiB, 2048 * MiB), free_bytes / 4);
  const size_t pinned = std::min(128 * MiB, large);
  char *memory = nullptr, *host = nullptr;
  check(cudaMalloc(&memory, large), "memory");
  check(cudaMemset(memory, 0, large), "memory");
  check(cudaHostAlloc(&host, pinned, cudaHostAllocDefault), "pinned memory");
  const int blocks = 8 * device.multiProcessorCount;

  const double fp32 = flops<float>(memory, blocks);  // first: it also brings the clock up
  const double fp64 = flops<double>(memory, blocks);
  double cached = 0;
  for (size_t part : {cache / 8, cache / 4, cache / 2}) {
    const size_t bytes = part / 4096 * 4096;
    cached = std::max(cached, bandwidth(memory, bytes, blocks, int(CACHED_BYTES / bytes) + 1));
  }
  // Waves of blocks as they come, or all blocks that fit: the better of the two.
  const double uncached = std::max(bandwidth(memory, large / 4096 * 4096, blocks, 1),
                                   bandwidth(memory, large / 4096 * 4096, 16 * blocks, 1));
  printf("{\"levels\": [[%zu, %.6g], [%zu, %.6g]], ", cache, cached, large, uncached);
  printf("\"fp32\": %.6g, \"fp64\": %.6g, ", fp32, fp64);
  printf("\"host_to_device\": %.6g, ", transfer(memory, host, pinned, true));
  printf("\"device_to_host\": %.6g}\n", transfer(memory, host, pinned, false));
  fflush(stdout);
  check(cudaFreeHost(host), "pinned memory");
  check(cudaFree(memory), "memory");
}
