// problem: tests/adversarial/problem/mask
// style: the limit lies in constant memory, copied in each call; four bools a thread in one word
#include <cuda_runtime.h>
#include <stddef.h>

struct Settings {
  float limit;
  size_t n;
};

__constant__ Settings settings;

__global__ void compare(const float *x, unsigned char *above) {
  const size_t n = settings.n, first = 4 * (blockIdx.x * size_t(blockDim.x) + threadIdx.x);
  const float limit = settings.limit;
  if (first + 4 <= n) {
    const float4 v = *reinterpret_cast<const float4 *>(x + first);
    *reinterpret_cast<uchar4 *>(above + first) =
        make_uchar4(v.x > limit, v.y > limit, v.z > limit, v.w > limit);
  } else {
    for (size_t i = first; i < n; ++i) above[i] = x[i] > limit;
  }
}

extern "C" void mask(const float *x, bool *above, size_t n) {
  const Settings now = {0.5f, n};
  cudaMemcpyToSymbol(settings, &now, sizeof now);
  float *from;  // aligned as cudaMalloc aligns
  unsigned char *to;
  cudaMalloc(&from, n * sizeof(float));
  cudaMalloc(&to, n);
  cudaMemcpy(from, x, n * sizeof(float), cudaMemcpyHostToDevice);
  const size_t threads = (n + 3) / 4;
  compare<<<static_cast<unsigned>((threads + 255) / 256), 256>>>(from, to);
  cudaMemcpy(above, to, n, cudaMemcpyDeviceToHost);
  cudaFree(from);
  cudaFree(to);
}
