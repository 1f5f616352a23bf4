// Linked into CUDA candidates: device allocations start as NaN, until the harness settles.
#include <cuda_runtime_api.h>
#include <stddef.h>

extern "C" {
__attribute__((visibility("default"))) int regraph_poison_allocations = 1;

cudaError_t __real_cudaMalloc(void **, size_t);
cudaError_t __real_cudaMallocAsync(void **, size_t, cudaStream_t);
cudaError_t __real_cudaMallocManaged(void **, size_t, unsigned int);
cudaError_t __real_cudaMallocPitch(void **, size_t *, size_t, size_t);

static cudaError_t poisoned(cudaError_t error, void **memory, size_t bytes) {
  if (error == cudaSuccess && regraph_poison_allocations && bytes) {
    cudaMemset(*memory, 0xFF, bytes);
    cudaDeviceSynchronize();  // other streams do not wait for the default one
  }
  return error;
}

cudaError_t __wrap_cudaMalloc(void **memory, size_t bytes) {
  return poisoned(__real_cudaMalloc(memory, bytes), memory, bytes);
}

cudaError_t __wrap_cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream) {
  cudaError_t error = __real_cudaMallocAsync(memory, bytes, stream);
  if (error == cudaSuccess && regraph_poison_allocations && bytes)
    cudaMemsetAsync(*memory, 0xFF, bytes, stream);
  return error;
}

cudaError_t __wrap_cudaMallocManaged(void **memory, size_t bytes, unsigned int flags) {
  return poisoned(__real_cudaMallocManaged(memory, bytes, flags), memory, bytes);
}

cudaError_t __wrap_cudaMallocPitch(void **memory, size_t *pitch, size_t width, size_t height) {
  cudaError_t error = __real_cudaMallocPitch(memory, pitch, width, height);
  return poisoned(error, memory, error == cudaSuccess ? *pitch * height : 0);
}
}
