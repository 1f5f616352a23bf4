// Reads a buffer of twice the L2 cache: what the last call left there is gone, and nothing is dirty.
// Changes single elements of the arrays in place.
// With a host compiler (tests on machines with no GPU) there is no cache to sweep.
#include <cuda_runtime_api.h>

#include <stdint.h>
#include <string.h>

struct Change {  // field for field the Change of harness.cpp
  uint64_t at, bytes, value;
};
static const int MAX_CHANGES = 4096;

#ifdef __CUDACC__
static Change *table;
static float4 *buffer;
static float *sink;
static size_t elements;

__global__ void read_all(const float4 *data, size_t n, float *out) {
  float sum = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x) {
    float4 v = data[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 1.0f) *out = sum;  // never: the buffer is zeros
}

extern "C" cudaError_t regraph_sweep_open() {
  int device = 0, bytes = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device);
  elements = 2 * size_t(bytes) / sizeof(float4);
  if (!error) error = cudaMalloc(&buffer, elements * sizeof(float4) + sizeof(float));
  if (!error) error = cudaMalloc(&table, MAX_CHANGES * sizeof *table);
  sink = reinterpret_cast<float *>(buffer + elements);
  return error ? error : cudaMemset(buffer, 0, elements * sizeof(float4));
}

__global__ void change_all(char *base, const Change *changes, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    for (uint64_t b = 0; b < changes[i].bytes; ++b)
      base[changes[i].at + b] = reinterpret_cast<const char *>(&changes[i].value)[b];
}

extern "C" cudaError_t regraph_change(char *base, const Change *changes, int count) {
  cudaError_t error = cudaMemcpy(table, changes, count * sizeof *table, cudaMemcpyHostToDevice);
  if (error) return error;
  change_all<<<1, 256>>>(base, table, count);
  return cudaDeviceSynchronize();
}

extern "C" void regraph_sweep() { read_all<<<1056, 256>>>(buffer, elements, sink); }
#else
extern "C" cudaError_t regraph_sweep_open() { return cudaSuccess; }
extern "C" cudaError_t regraph_change(char *base, const Change *changes, int count) {
  for (int i = 0; i < count; ++i)
    memcpy(base + changes[i].at, &changes[i].value, changes[i].bytes);
  return cudaSuccess;
}
extern "C" void regraph_sweep() {}
#endif
