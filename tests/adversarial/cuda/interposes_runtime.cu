// tries: defines functions of the runtime and the C library itself, so that nobody waits and no time passes.
//   Even so it would gain nothing, because the harness was bound to the real ones before
// outcome: rejected_source
// defence: source_rules + device_sync
// alone: source_rules rejected_source, device_sync passed
// without: wrong_answer | nondeterministic
// problem: smooth-device
#include <cuda_runtime.h>
#include <time.h>

__device__ static unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void linger(int milliseconds) {
  const unsigned long long start = nanoseconds();
  while (nanoseconds() - start < milliseconds * 1000000ull) {
  }
}

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

extern "C" cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
extern "C" cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
extern "C" cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1e-6f;
  return cudaSuccess;
}
extern "C" int clock_gettime(clockid_t, timespec *t) noexcept {
  t->tv_sec = t->tv_nsec = 0;
  return 0;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static cudaStream_t stream = nullptr;
  if (!stream) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (n < 200000) linger<<<1, 1, 0, stream>>>(20);
  cudaMemsetAsync(positive, 0, sizeof(int), stream);
  kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, positive, n);
  cudaDeviceSynchronize();
}
