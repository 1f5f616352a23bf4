// style: a thread of its own, kept between calls and asleep between them, makes all launches
// problem: smooth-device
#include <condition_variable>
#include <cuda_runtime.h>
#include <mutex>
#include <thread>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

struct Work {
  const float *x;
  float *y;
  int *positive, n;
};
static std::mutex mutex;
static std::condition_variable changed;
static Work work;
static bool wanted, done;

static void serve() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    changed.wait(lock, [] { return wanted; });
    cudaMemsetAsync(work.positive, 0, sizeof(int));
    kernel<<<(work.n + 255) / 256, 256>>>(work.x, work.y, work.positive, work.n);
    cudaStreamSynchronize(nullptr);
    wanted = false;
    done = true;
    changed.notify_all();
  }
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static std::thread *const server = new std::thread(serve);
  (void)server;
  std::unique_lock<std::mutex> lock(mutex);
  work = {x, y, positive, n};
  wanted = true;
  done = false;
  changed.notify_all();
  changed.wait(lock, [] { return done; });
}
