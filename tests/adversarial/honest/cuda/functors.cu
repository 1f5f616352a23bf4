// style: a kernel template over functors and, inside it, lambdas
// problem: smooth-device
#include <cuda_runtime.h>

struct Blur {
  const float *x;
  int n;
  __device__ float operator()(int i) const {
    const auto at = [this](int j) { return j < 0 || j >= n ? 0.0f : x[j]; };
    return i > 0 && i < n - 1 ? 0.25f * at(i - 1) + 0.5f * at(i) + 0.25f * at(i + 1) : 0.0f;
  }
};

struct Above {
  const float *x;
  __device__ bool operator()(int i) const { return x[i] > 0.0f; }
};

template <typename Value, typename Test>
__global__ void each(Value value, Test test, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = value(i);
  if (test(i)) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  each<<<(n + 255) / 256, 256>>>(Blur{x, n}, Above{x}, y, positive, n);
}
