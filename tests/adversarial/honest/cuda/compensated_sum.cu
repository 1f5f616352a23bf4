// style: Kahan summation in every thread, tree in shared memory, two kernels, scratch from cudaMallocAsync
// problem: total-device
#include <cuda_runtime.h>

enum { BLOCKS = 64, THREADS = 128 };

__global__ void reduce(const float *x, float *parts, int n) {
  __shared__ float tree[THREADS];
  float sum = 0.0f, lost = 0.0f;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
    const float next = __fsub_rn(x[i], lost);
    const float grown = __fadd_rn(sum, next);
    lost = __fsub_rn(__fsub_rn(grown, sum), next);
    sum = grown;
  }
  tree[threadIdx.x] = sum;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = tree[0];
}

extern "C" void total(const float *x, float *sum, int n) {
  float *parts;
  cudaMallocAsync(&parts, BLOCKS * sizeof(float), nullptr);
  reduce<<<BLOCKS, THREADS>>>(x, parts, n);
  reduce<<<1, THREADS>>>(parts, sum, BLOCKS);
  cudaFreeAsync(parts, nullptr);
}
