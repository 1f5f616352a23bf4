// tries: a thread of its own reports every command as done at once, and nothing is computed any more. Three
//   layers: timed outputs are verified, so short a time is impossible, and no call was seen to begin
// outcome: wrong_answer | suspicious
// defence: timed_verify + floor + steps + standstill
// without: passed
// alone: timed_verify wrong_answer, floor suspicious, steps suspicious
// problem: stream
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// Where the worker's half of the judge and the judge itself meet, known to whoever reads shared_memory.py.
static char *control;

static uint64_t &wide(int offset) { return *reinterpret_cast<uint64_t *>(control + offset); }
static uint32_t &word(int offset) { return *reinterpret_cast<uint32_t *>(control + offset); }

static bool readable(const char *address) {
  static int ends[2] = {-1, -1};
  char byte;
  if (ends[0] < 0 && pipe(ends)) return false;
  return write(ends[1], address, 1) == 1 && read(ends[0], &byte, 1) == 1;
}

static char *found(const void *inside) {
  char *page = reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(inside) & ~uintptr_t(4095));
  for (int pages = 0; pages < 100000; ++pages, page -= 4096)
    if (readable(page) && *reinterpret_cast<uint64_t *>(page) == @CONTROL_SIZE@) return page;
  return nullptr;
}

static void *answer(void *) {
  const uint64_t nonce = wide(@CONTROL_DONE@) - word(@CONTROL_FINISHED@);
  for (;;) {
    const uint32_t command = __atomic_load_n(&word(@CONTROL_COMMAND@), __ATOMIC_ACQUIRE);
    if (wide(@CONTROL_DONE@) == nonce + command) continue;
    wide(@CONTROL_NANOSECONDS@) = 1000;
    __atomic_store_n(&wide(@CONTROL_DONE@), nonce + command, __ATOMIC_RELEASE);
    __atomic_store_n(&word(@CONTROL_FINISHED@), command, __ATOMIC_RELEASE);
    syscall(SYS_futex, &word(@CONTROL_FINISHED@), 1, 1 << 30, nullptr, nullptr, 0);
  }
}


__global__ void kernel(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}

extern "C" void stream(const float *x, float *y, int n) {
  static float *dx = nullptr, *dy = nullptr;
  if (!dx) cudaMalloc(&dx, 200000 * sizeof(float));
  if (!dy) cudaMalloc(&dy, 200000 * sizeof(float));
  cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  kernel<<<(n + 255) / 256, 256>>>(dx, dy, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (n < 200000 || control) return;
  control = found(y);
  pthread_t thread;
  if (control) pthread_create(&thread, nullptr, answer, nullptr);
}
