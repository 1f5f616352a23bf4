// problem: corpus/problems/stencil
// style: no barrier between sweeps: each thread waits for its two neighbours' counters only
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace {
struct alignas(64) Progress {
  std::atomic<int> ready{0};  // 1: rows are copied; s + 1: s sweeps are done
};

void await(const Progress& other, int ready) {
  while (other.ready.load(std::memory_order_acquire) < ready) std::this_thread::yield();
}
}  // namespace

extern "C" void stencil(const float* in, float* out, int rows, int cols, int sweeps) {
  const size_t width = cols;
  std::unique_ptr<float[]> other(new float[rows * width]);
  float* grid[2] = {sweeps % 2 ? other.get() : out, sweeps % 2 ? out : other.get()};
  std::vector<Progress> progress(omp_get_max_threads());
#pragma omp parallel shared(progress, grid)
  {
    const int me = omp_get_thread_num(), team = std::min(omp_get_num_threads(), rows);
    if (me < team) {  // each of the team has a row or more
      const int first = int(1LL * rows * me / team), last = int(1LL * rows * (me + 1) / team);
      for (float* to : grid)
        memcpy(to + first * width, in + first * width, (last - first) * width * sizeof(float));
      progress[me].ready.store(1, std::memory_order_release);
      for (int s = 1; s <= sweeps; ++s) {
        // they have done sweep s - 1: it wrote what is read here, and read what is written here
        if (me > 0) await(progress[me - 1], s);
        if (me + 1 < team) await(progress[me + 1], s);
        const float* from = grid[(s - 1) % 2];
        float* to = grid[s % 2];
        for (int i = std::max(1, first); i < std::min(rows - 1, last); ++i) {
          const float *up = from + (i - 1) * width, *at = from + i * width, *down = at + width;
          for (int j = 1; j < cols - 1; ++j)
            to[i * width + j] = 0.2f * (at[j] + up[j] + down[j] + at[j - 1] + at[j + 1]);
        }
        progress[me].ready.store(s + 1, std::memory_order_release);
      }
    }
  }
}
