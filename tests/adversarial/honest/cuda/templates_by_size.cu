// style: template over the block's size, chosen by a switch; unrolled loops
// problem: smooth-device
#include <cuda_runtime.h>

template <int THREADS, int EACH>
__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int first = blockIdx.x * THREADS * EACH + threadIdx.x;
#pragma unroll
  for (int turn = 0; turn < EACH; ++turn) {
    const int i = first + turn * THREADS;
    if (i >= n) return;
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    if (x[i] > 0.0f) atomicAdd(positive, 1);
  }
}

template <int THREADS>
static void launch(const float *x, float *y, int *positive, int n) {
  kernel<THREADS, 4><<<(n + 4 * THREADS - 1) / (4 * THREADS), THREADS>>>(x, y, positive, n);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  switch (n < 100 ? 0 : n < 1000 ? 1 : 2) {
    case 0: return launch<32>(x, y, positive, n);
    case 1: return launch<128>(x, y, positive, n);
    default: return launch<512>(x, y, positive, n);
  }
}
