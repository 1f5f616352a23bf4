"""CUDA code for pointers to the host, made fit for pointers to the device.

Metric "device" passes arrays that lie on the device. Code that copies its arrays there and back
names the direction of each copy, and may be refused. With these lines before it, the runtime finds
the direction by the pointers (a copy within the device), and what the code allocates in a call
comes from a pool: a timed call covers its kernels and copies within the device. Code
for device pointers, which neither copies nor allocates, is the same with them and without.

Not covered: code that reads its arguments on the host; it crashes.
"""

_BEFORE = """\
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
"""


def for_device_pointers(code: str) -> str:
    """The code in the form that metric "device" can judge."""
    return _BEFORE + code
