// A launch per round. A lane per friend, as many people per warp as fit; each lane counts its label among its person's
// by shuffles, and the greatest word of count and label wins. The last round writes the answer.
#include <cuda_runtime.h>

constexpr int kBlock = 256;

__global__ void __launch_bounds__(kBlock) one_round(const int* __restrict__ friends, const int* __restrict__ now,
                                                    int* __restrict__ next, int* __restrict__ changed, int people,
                                                    int degree, int width) {
    const long long lanes = (long long)blockIdx.x * kBlock + threadIdx.x;
    const int p = (int)(lanes / width), k = threadIdx.x % width;
    const bool counts = p < people && k < degree;
    const int label = counts ? now[friends[(size_t)p * degree + k]] : 0;
    unsigned count = 0u;
    for (int other = 0; other < degree; ++other) count += __shfl_sync(0xffffffffu, label, other, width) == label;
    unsigned long long best = counts ? (unsigned long long)count << 32 | (0x7fffffffu - (unsigned)label) : 0ull;
    for (int step = width / 2; step > 0; step /= 2) {
        const unsigned long long other = __shfl_xor_sync(0xffffffffu, best, step, width);
        best = other > best ? other : best;
    }
    bool moved = false;
    if (counts && k == 0) {
        const int winner = (int)(0x7fffffffu - (unsigned)best);
        moved = winner != now[p];
        next[p] = winner;
    }
    const int all = __popc(__ballot_sync(0xffffffffu, moved));
    if (threadIdx.x % 32 == 0 && all > 0) atomicAdd(changed, all);
}

extern "C" void community_labels(const int* friends, const int* start, int* label, int* changed, int people,
                                 int degree, int rounds) {
    int width = 1;
    while (width < degree) width *= 2;
    const int blocks = (int)(((long long)people * width + kBlock - 1) / kBlock);
    int* between;
    cudaMallocAsync(&between, sizeof(int) * people, 0);
    cudaMemsetAsync(changed, 0, sizeof(int) * rounds, 0);
    const int* now = start;
    for (int round = 0; round < rounds; ++round) {
        int* next = (rounds - 1 - round) % 2 == 0 ? label : between;
        one_round<<<blocks, kBlock>>>(friends, now, next, changed + round, people, degree, width);
        now = next;
    }
    cudaFreeAsync(between, 0);
}
