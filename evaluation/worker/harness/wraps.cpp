// Linked into CUDA candidates in place of the runtime's allocation and launch functions
// (ld --wrap). Until the harness settles, device allocations start as NaN and end in a canary; in
// a ghost call launches are swallowed. Device allocations are counted, for the timing's sake.
// Not covered: functions reached by another way than linking (dlsym, the driver's own interface),
// writes before an allocation, canaries of pitched allocations and of those in a graph.
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern "C" {

struct Wraps {  // field for field the Wraps of harness.cpp
  int poison, guard, ghost;
  uint64_t allocations, launches, frees;
  uint64_t (*damaged)();
};

static uint64_t damaged();
__attribute__((visibility("default"))) Wraps regraph_wraps = {1, 1, 0, 0, 0, 0, damaged};

#define WEAK __attribute__((weak))
cudaError_t __real_cudaMalloc(void **, size_t);
cudaError_t __real_cudaMallocAsync(void **, size_t, cudaStream_t);
cudaError_t __real_cudaMallocManaged(void **, size_t, unsigned int);
cudaError_t __real_cudaMallocPitch(void **, size_t *, size_t, size_t);
cudaError_t __real_cudaFree(void *);
WEAK cudaError_t __real_cudaFreeAsync(void *, cudaStream_t);
WEAK cudaError_t __real_cudaMallocFromPoolAsync(void **, size_t, cudaMemPool_t, cudaStream_t);

static const size_t TAIL = 256, MOST = 4096;
static const int CANARY = 0xC5;
static struct { char *at; size_t bytes; } guarded[MOST];
static uint64_t broken;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static size_t tail() { return regraph_wraps.guard ? TAIL : 0; }

// None while a graph is captured: its memory exists when it runs.
static size_t tail_in(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) || status ? 0 : tail();
}

static void remember(char *at, size_t bytes) {
  pthread_mutex_lock(&mutex);
  for (size_t i = 0; i < MOST; ++i)
    if (!guarded[i].at) {
      guarded[i] = {at, bytes};
      break;
    }
  pthread_mutex_unlock(&mutex);
}

// Looks at the canary of one allocation.
static void inspect(size_t i) {
  unsigned char found[TAIL], whole[TAIL];
  memset(whole, CANARY, TAIL);
  char *end = guarded[i].at + guarded[i].bytes;
  if (cudaMemcpy(found, end, TAIL, cudaMemcpyDeviceToHost)) return;
  if (memcmp(found, whole, TAIL) && !broken) broken = guarded[i].bytes;
}

static void forget(void *at) {
  if (!at) return;
  ++regraph_wraps.frees;
  if (!regraph_wraps.guard) return;
  pthread_mutex_lock(&mutex);
  for (size_t i = 0; i < MOST; ++i) {
    if (guarded[i].at != at) continue;
    cudaDeviceSynchronize();
    inspect(i);
    guarded[i].at = nullptr;
  }
  pthread_mutex_unlock(&mutex);
}

// Bytes of the first allocation past whose end something was written; 0: all were whole.
static uint64_t damaged() {
  for (size_t i = 0; i < MOST; ++i)
    if (guarded[i].at) inspect(i);
  return broken;
}

static cudaError_t prepared(cudaError_t error, void **memory, size_t bytes, size_t extra) {
  ++regraph_wraps.allocations;
  if (error != cudaSuccess || !bytes) return error;
  char *start = static_cast<char *>(*memory);
  if (regraph_wraps.poison) cudaMemset(start, 0xFF, bytes);
  if (extra) {
    cudaMemset(start + bytes, CANARY, extra);
    remember(start, bytes);
  }
  if (regraph_wraps.poison || extra)
    cudaDeviceSynchronize();  // other streams do not wait for the default one
  return error;
}

static cudaError_t prepared_in(cudaStream_t stream, cudaError_t error, void **memory,
                               size_t bytes, size_t extra) {
  ++regraph_wraps.allocations;
  if (error != cudaSuccess || !bytes) return error;
  char *start = static_cast<char *>(*memory);
  if (regraph_wraps.poison) cudaMemsetAsync(start, 0xFF, bytes, stream);
  if (extra) {
    cudaMemsetAsync(start + bytes, CANARY, extra, stream);
    remember(start, bytes);
  }
  return error;
}

cudaError_t __wrap_cudaMalloc(void **memory, size_t bytes) {
  size_t extra = bytes ? tail() : 0;
  return prepared(__real_cudaMalloc(memory, bytes + extra), memory, bytes, extra);
}

cudaError_t __wrap_cudaMallocManaged(void **memory, size_t bytes, unsigned int flags) {
  size_t extra = bytes ? tail() : 0;
  return prepared(__real_cudaMallocManaged(memory, bytes + extra, flags), memory, bytes, extra);
}

cudaError_t __wrap_cudaMallocPitch(void **memory, size_t *pitch, size_t width, size_t height) {
  cudaError_t error = __real_cudaMallocPitch(memory, pitch, width, height);
  return prepared(error, memory, error == cudaSuccess ? *pitch * height : 0, 0);
}

cudaError_t __wrap_cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream) {
  size_t extra = bytes ? tail_in(stream) : 0;
  cudaError_t error = __real_cudaMallocAsync(memory, bytes + extra, stream);
  return prepared_in(stream, error, memory, bytes, extra);
}

cudaError_t __wrap_cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t pool,
                                           cudaStream_t stream) {
  size_t extra = bytes ? tail_in(stream) : 0;
  cudaError_t error = __real_cudaMallocFromPoolAsync(memory, bytes + extra, pool, stream);
  return prepared_in(stream, error, memory, bytes, extra);
}

cudaError_t __wrap_cudaFree(void *memory) {
  forget(memory);
  return __real_cudaFree(memory);
}

cudaError_t __wrap_cudaFreeAsync(void *memory, cudaStream_t stream) {
  forget(memory);
  return __real_cudaFreeAsync(memory, stream);
}

// Launches: counted, and swallowed in a ghost call. Which of them exist depends on the toolkit.
#define LAUNCH(name, parameters, arguments)                          \
  WEAK cudaError_t __real_##name parameters;                         \
  cudaError_t __wrap_##name parameters {                             \
    ++regraph_wraps.launches;                                        \
    return regraph_wraps.ghost ? cudaSuccess : __real_##name arguments; \
  }

LAUNCH(cudaLaunchKernel,
       (const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
       (f, grid, block, args, shared, stream))
LAUNCH(__cudaLaunchKernel,
       (void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
       (f, grid, block, args, shared, stream))
LAUNCH(cudaLaunchCooperativeKernel,
       (const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
       (f, grid, block, args, shared, stream))
LAUNCH(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *f, void **args),
       (config, f, args))
LAUNCH(cudaGraphLaunch, (cudaGraphExec_t graph, cudaStream_t stream), (graph, stream))
}
