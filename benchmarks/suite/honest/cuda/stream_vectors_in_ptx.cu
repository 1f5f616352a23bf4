// problem: tests/adversarial/problem/stream-device
// style: PTX loads of four floats where x and y are aligned alike, single ones before, behind, or throughout
#include <cuda_runtime.h>
#include <stdint.h>

__device__ float4 load4(const float *at) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(at));
  return v;
}

__device__ void store4(float *at, float4 v) {
  asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(at), "f"(v.x), "f"(v.y),
               "f"(v.z), "f"(v.w)
               : "memory");
}

// Elements [0, head) and those behind the last vector are done one by one.
__global__ void twice(const float *x, float *y, int n, int head, int vectors) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int v = thread; v < vectors; v += threads) {
    float4 four = load4(x + head + 4 * v);
    four.x += four.x;
    four.y += four.y;
    four.z += four.z;
    four.w += four.w;
    store4(y + head + 4 * v, four);
  }
  const int singles = n - 4 * vectors;
  for (int s = thread; s < singles; s += threads) {
    const int i = s < head ? s : s + 4 * vectors;
    y[i] = 2.0f * x[i];
  }
}

extern "C" void stream(const float *x, float *y, int n) {
  const uintptr_t from = reinterpret_cast<uintptr_t>(x), to = reinterpret_cast<uintptr_t>(y);
  int head = 0, vectors = 0;
  if (from % 16 == to % 16) {
    head = static_cast<int>((16 - from % 16) % 16 / sizeof(float));
    if (head > n) head = n;
    vectors = (n - head) / 4;
  }
  const int work = vectors > n - 4 * vectors ? vectors : n - 4 * vectors;
  const int blocks = (work + 255) / 256;
  twice<<<blocks < 1056 ? blocks : 1056, 256>>>(x, y, n, head, vectors);
}
