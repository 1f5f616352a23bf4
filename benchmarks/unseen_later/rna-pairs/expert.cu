// A launch per length of pieces, a warp per piece: its lanes share the splits. The table is kept a second time by
// columns, so that both halves of a split are read side by side.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(128) pieces(const unsigned char* __restrict__ bases, int* most, int* columns,
                                              int length, int n) {
    const int lane = threadIdx.x % 32, i = blockIdx.x * 4 + threadIdx.x / 32, j = i + length - 1;
    if (j >= n) return;
    const int *left = most + (size_t)i * n, *right = columns + (size_t)j * n + 1;
    int best = 0;
    if (lane == 0) {
        best = max(right[i], left[j - 1]);
        const int low = min(bases[i], bases[j]), high = max(bases[i], bases[j]);
        if ((low == 0 && high == 3) || (low == 1 && high == 2) || (low == 2 && high == 3)) {
            best = max(best, most[(size_t)(i + 1) * n + j - 1] + 1);
        }
    }
    for (int k = i + 1 + lane; k < j - 1; k += 32) best = max(best, left[k] + right[k]);
    for (int step = 16; step; step /= 2) best = max(best, __shfl_xor_sync(0xffffffffu, best, step));
    if (lane == 0) most[(size_t)i * n + j] = columns[(size_t)j * n + i] = best;
}

extern "C" void rna_pairs(const unsigned char* bases, int* most, int n) {
    const size_t bytes = sizeof(int) * (size_t)n * n;
    int* columns;
    cudaMallocAsync(&columns, bytes, 0);
    cudaMemsetAsync(most, 0, bytes, 0);
    cudaMemsetAsync(columns, 0, bytes, 0);
    for (int length = 5; length <= n; ++length) {
        pieces<<<(n - length + 4) / 4, 128>>>(bases, most, columns, length, n);
    }
    cudaFreeAsync(columns, 0);
}
