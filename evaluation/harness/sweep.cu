// Reads a buffer of twice the L2 cache: what the last call left there is gone, and nothing is dirty.
// With a host compiler (tests on machines with no GPU) there is no cache to sweep.
#include <cuda_runtime_api.h>

#ifdef __CUDACC__
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
  sink = reinterpret_cast<float *>(buffer + elements);
  return error ? error : cudaMemset(buffer, 0, elements * sizeof(float4));
}

extern "C" void regraph_sweep() { read_all<<<1056, 256>>>(buffer, elements, sink); }
#else
extern "C" cudaError_t regraph_sweep_open() { return cudaSuccess; }
extern "C" void regraph_sweep() {}
#endif
