// problem: corpus/problems/histogram
// style: a byte for each thread and bin; a thread takes 255 keys at most, which a byte can count
#include <cuda_runtime.h>

enum { THREADS = 128, KEYS = 255, CHUNK = THREADS * KEYS };

__global__ void count(const unsigned char *keys, int *hist, int n) {
  __shared__ unsigned counter[256 * THREADS / 4];
  for (int w = threadIdx.x; w < 256 * THREADS / 4; w += THREADS) counter[w] = 0;
  __syncthreads();

  unsigned char *const own = reinterpret_cast<unsigned char *>(counter) + threadIdx.x;
  const long long first = static_cast<long long>(blockIdx.x) * CHUNK;
  const int here = n - first < CHUNK ? static_cast<int>(n - first) : CHUNK;
  for (int i = threadIdx.x; i < here; i += THREADS) ++own[keys[first + i] * THREADS];
  __syncthreads();

  for (int bin = threadIdx.x; bin < 256; bin += THREADS) {
    int sum = 0;
    for (int w = 0; w < THREADS / 4; ++w) {
      const unsigned four = counter[bin * (THREADS / 4) + (w + threadIdx.x) % (THREADS / 4)];
      sum += (four & 255) + (four >> 8 & 255) + (four >> 16 & 255) + (four >> 24);
    }
    if (sum) atomicAdd(hist + bin, sum);
  }
}

extern "C" void histogram(const unsigned char *keys, int *hist, int n) {
  unsigned char *d_keys;
  int *d_hist;
  cudaMalloc(&d_keys, n);
  cudaMalloc(&d_hist, 256 * sizeof(int));
  cudaMemset(d_hist, 0, 256 * sizeof(int));
  cudaMemcpy(d_keys, keys, n, cudaMemcpyHostToDevice);
  count<<<(n + CHUNK - 1) / CHUNK, THREADS>>>(d_keys, d_hist, n);
  cudaMemcpy(hist, d_hist, 256 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d_keys);
  cudaFree(d_hist);
}
