#include <cuda_runtime_api.h>
namespace kept_memory {
inline cudaError_t allocate(void **memory, size_t bytes) {
  static const cudaError_t kept = [] {
    int device = 0;
    cudaMemPool_t pool;
    unsigned long long all = ~0ull;
    cudaError_t error = cudaGetDevice(&device);
    if (!error) error = cudaDeviceGetDefaultMemPool(&pool, device);
    return error ? error : cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
  }();
  return kept ? kept : cudaMallocAsync(memory, bytes ? bytes : 1, 0);
}
template <class T> cudaError_t allocate(T **memory, size_t bytes) {
  return allocate((void **)memory, bytes);
}
inline cudaError_t release(void *memory) {
  return memory ? cudaFreeAsync(memory, 0) : cudaSuccess;
}
}  // namespace kept_memory
#define cudaMalloc kept_memory::allocate
#define cudaFree kept_memory::release
#define cudaMemcpyHostToDevice cudaMemcpyDefault
#define cudaMemcpyDeviceToHost cudaMemcpyDefault
#line 1
