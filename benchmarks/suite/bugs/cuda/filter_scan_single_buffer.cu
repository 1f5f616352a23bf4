// problem: tests/adversarial/problem/filter
// bug: Hillis-Steele scan in one shared buffer without a barrier between reading and writing
// class: race
#include <cuda_runtime.h>

#define BLOCK 512

// rank[i]: how many of the block's kept elements lie before i
__global__ void scan_flags(const int *x, int *rank, int *block_total, int n) {
  __shared__ int s[BLOCK];
  int tid = threadIdx.x;
  int i = blockIdx.x * BLOCK + tid;
  int keep = (i < n && x[i] % 3 == 0) ? 1 : 0;
  s[tid] = keep;
  __syncthreads();
  for (int d = 1; d < BLOCK; d *= 2) {
    if (tid >= d) s[tid] += s[tid - d];
    __syncthreads();
  }
  if (i < n) rank[i] = s[tid] - keep;
  if (tid == BLOCK - 1) block_total[blockIdx.x] = s[tid];
}

__global__ void scan_totals(int *block_total, int *found, int blocks) {
  int sum = 0;
  for (int b = 0; b < blocks; ++b) {
    int t = block_total[b];
    block_total[b] = sum;
    sum += t;
  }
  *found = sum;
}

__global__ void scatter(const int *x, const int *rank, const int *offset, int *kept, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n && x[i] % 3 == 0) kept[offset[blockIdx.x] + rank[i]] = x[i];
}

extern "C" void filter(const int *x, int *kept, int *found, int n) {
  int blocks = (n + BLOCK - 1) / BLOCK;
  int *d_x, *d_kept, *d_rank, *d_total, *d_found;
  cudaMalloc(&d_x, n * sizeof(int));
  cudaMalloc(&d_kept, n * sizeof(int));
  cudaMalloc(&d_rank, n * sizeof(int));
  cudaMalloc(&d_total, blocks * sizeof(int));
  cudaMalloc(&d_found, sizeof(int));
  cudaMemcpy(d_x, x, n * sizeof(int), cudaMemcpyHostToDevice);
  scan_flags<<<blocks, BLOCK>>>(d_x, d_rank, d_total, n);
  scan_totals<<<1, 1>>>(d_total, d_found, blocks);
  scatter<<<blocks, BLOCK>>>(d_x, d_rank, d_total, d_kept, n);
  int count = 0;
  cudaMemcpy(&count, d_found, sizeof(int), cudaMemcpyDeviceToHost);
  if (count < 0) count = 0;
  if (count > n) count = n;
  cudaMemcpy(kept, d_kept, count * sizeof(int), cudaMemcpyDeviceToHost);
  *found = count;
  cudaFree(d_x);
  cudaFree(d_kept);
  cudaFree(d_rank);
  cudaFree(d_total);
  cudaFree(d_found);
}
