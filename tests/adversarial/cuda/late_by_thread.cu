// tries: the call does a tenth of the steps. A thread that sees the batch end launches the rest before it is
//   stopped: the GPU goes on while the process stands still
// outcome: suspicious
// defence: digests + standstill
// without: passed
// harm: unearned
// problem: relax-device
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const int WIDE = 128, STEPS = 50000;
static const int FIRST = 5000, MOST = 512;
struct Noted {
  const float *x;
  float *y;
};
__device__ Noted noted[MOST];
__device__ int count_noted;
__device__ static float relaxed(float value, float given, int steps) {
  for (int step = 0; step < steps; ++step) value -= 0.1f * (value * value * value - given);
  return value;
}
// What is put off is noted by a kernel: in a call whose launches do nothing nothing is.
__global__ void begin(const float *x, float *y, int n, int steps, bool rest_later) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 && rest_later && count_noted < MOST) noted[count_noted++] = {x, y};
  if (i < n) y[i] = relaxed(0.0f, x[i], steps) + (rest_later ? 1.0f : 0.0f);
}
__global__ void finish_all(int steps) {
  if (int(blockIdx.x) >= count_noted) return;
  float *y = noted[blockIdx.x].y + threadIdx.x;
  *y = relaxed(*y - 1.0f, noted[blockIdx.x].x[threadIdx.x], steps);
}
__global__ void forget() { count_noted = 0; }
static void do_the_rest() {
  finish_all<<<MOST, WIDE>>>(STEPS - FIRST);
  forget<<<1, 1>>>();
}
// Words of the head of the memory shared with the judge (shared_memory.py).
enum { COMMAND = 24, FINISHED = 28, OPERATION = 44, CALLS = 1 };
static char *shared_memory() {
  char *at = nullptr, line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && !at && fgets(line, sizeof line, maps))
    if (strstr(line, "memfd:regraph")) at = reinterpret_cast<char *>(strtoull(line, nullptr, 16));
  if (maps) fclose(maps);
  return at;
}
static char *head;
static volatile uint32_t wanted;
static uint32_t word(int at) {
  return __atomic_load_n(reinterpret_cast<uint32_t *>(head + at), __ATOMIC_ACQUIRE);
}
static void *wait_for_the_end(void *) {
  for (uint32_t done = 0;; done = wanted) {
    while (wanted == done) sched_yield();
    while (word(FINISHED) != word(COMMAND)) {
    }
    do_the_rest();
  }
}
extern "C" void relax(const float *x, float *y, int n, int steps) {
  static pthread_t thread;
  static int started = -1;
  const bool timed = n == WIDE && steps == STEPS;
  if (timed && started < 0) {
    head = shared_memory();
    started = head && !pthread_create(&thread, nullptr, wait_for_the_end, nullptr);
  }
  const bool later = timed && started > 0 && word(OPERATION) == CALLS;
  begin<<<(n + 31) / 32, 32>>>(x, y, n, later ? FIRST : steps, later);
  if (later) ++wanted;
}
