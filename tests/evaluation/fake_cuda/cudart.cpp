#include <stdlib.h>
#include <string.h>

#include <functional>
#include <string>
#include <vector>

#include "cuda_runtime_api.h"

static std::vector<std::function<void()>> queue;
static cudaError_t last = cudaSuccess;

static void drain() {
  for (auto &work : queue) work();
  queue.clear();
}

extern "C" {
cudaError_t cudaMalloc(void **memory, size_t bytes) {
  *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  return cudaSuccess;
}
cudaError_t cudaMallocAsync(void **m, size_t bytes, cudaStream_t) { return cudaMalloc(m, bytes); }
cudaError_t cudaMallocManaged(void **m, size_t bytes, unsigned int) { return cudaMalloc(m, bytes); }
cudaError_t cudaMallocPitch(void **m, size_t *pitch, size_t width, size_t height) {
  *pitch = width;
  return cudaMalloc(m, width * height);
}
cudaError_t cudaFree(void *memory) {
  free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemset(void *memory, int byte, size_t bytes) {
  drain();
  memset(memory, byte, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *memory, int byte, size_t bytes, cudaStream_t) {
  return cudaMemset(memory, byte, bytes);
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
  drain();
  memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  drain();
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  cudaError_t error = last;
  last = cudaSuccess;
  return error;
}
const char *cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration ? "invalid configuration argument" : "other error";
}
void fakeLaunch(void (*kernel)(void *), const void *argument, size_t bytes) {
  std::string copy(static_cast<const char *>(argument), bytes);
  queue.push_back([=]() mutable { kernel(copy.data()); });
}
void fakeLaunchFails() { last = cudaErrorInvalidConfiguration; }
}
