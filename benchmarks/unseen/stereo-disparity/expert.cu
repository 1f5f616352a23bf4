// A block takes 128 columns by 8 rows. Its threads are 4 teams, each with every fourth shift: a thread slides the
// sum of its column down the rows, shared memory adds the columns up to windows, and the best (sum, shift) of
// each row stays in a register until the teams join. Images come through shared tiles.
#include <cuda_runtime.h>

constexpr int kWide = 128, kTall = 8, kTeams = 4;

__global__ void __launch_bounds__(kWide* kTeams) match(const unsigned char* __restrict__ left,
                                                       const unsigned char* __restrict__ right,
                                                       unsigned char* __restrict__ disparity, int radius, int shifts,
                                                       int rows, int cols) {
    // columns of windows: kWide - 2 radius of the block's columns have results
    extern __shared__ unsigned char room[];
    const int tall = kTall + 2 * radius, reach = kWide + shifts - 1;
    unsigned char *l = room, *r = room + tall * kWide;
    __shared__ unsigned short sums[2][kTeams][kWide];
    __shared__ unsigned keys[kTall][kWide];
    const int tx = threadIdx.x, team = threadIdx.y, thread = team * kWide + tx;
    const int x0 = blockIdx.x * (kWide - 2 * radius) - radius, y0 = blockIdx.y * kTall - radius;
    for (int e = thread; e < tall * kWide; e += kWide * kTeams) {
        const int y = min(max(y0 + e / kWide, 0), rows - 1), x = min(max(x0 + e % kWide, 0), cols - 1);
        l[e] = left[(size_t)y * cols + x];
    }
    for (int e = thread; e < tall * reach; e += kWide * kTeams) {
        const int y = min(max(y0 + e / reach, 0), rows - 1), x = min(max(x0 - (shifts - 1) + e % reach, 0), cols - 1);
        r[e] = right[(size_t)y * cols + x];
    }
    for (int e = thread; e < kTall * kWide; e += kWide * kTeams) (&keys[0][0])[e] = 0xffffffffu;
    unsigned best[kTall];
#pragma unroll
    for (int y = 0; y < kTall; ++y) best[y] = 0xffffffffu;
    __syncthreads();

    const int x = x0 + tx;
    const bool results = tx >= radius && tx < kWide - radius && x < cols - radius;
    for (int s0 = 0; s0 < shifts; s0 += kTeams) {
        const int s = s0 + team, shift = min(s, shifts - 1);
        const unsigned char *lx = l + tx, *rx = r + tx + shifts - 1 - shift;
        int column = 0;
        for (int y = 0; y < 2 * radius; ++y) column += abs(lx[y * kWide] - rx[y * reach]);
#pragma unroll
        for (int y = 0; y < kTall; ++y) {
            const int in = y + 2 * radius;
            column += abs(lx[in * kWide] - rx[in * reach]);
            sums[y % 2][team][tx] = (unsigned short)column;
            __syncthreads();  // two buffers: one barrier per row
            if (results && s < shifts && x - s >= radius) {
                unsigned sum = 0;
                for (int dx = -radius; dx <= radius; ++dx) sum += sums[y % 2][team][tx + dx];
                best[y] = min(best[y], sum << 8 | s);
            }
            column -= abs(lx[y * kWide] - rx[y * reach]);
        }
    }
    if (results && x >= radius) {
#pragma unroll
        for (int y = 0; y < kTall; ++y) atomicMin(&keys[y][tx], best[y]);
    }
    __syncthreads();
    for (int y = team; y < kTall; y += kTeams) {
        const int row = y0 + radius + y;
        if (tx < radius || tx >= kWide - radius || x < 0 || x >= cols || row >= rows) continue;
        const bool whole = row >= radius && row < rows - radius && x >= radius && x < cols - radius;
        disparity[(size_t)row * cols + x] = whole ? (unsigned char)keys[y][tx] : 0;
    }
}

extern "C" void stereo_disparity(const unsigned char* left, const unsigned char* right, unsigned char* disparity,
                                 int radius, int shifts, int rows, int cols) {
    const int tall = kTall + 2 * radius, wide = kWide - 2 * radius, bytes = tall * (2 * kWide + shifts - 1);
    cudaFuncSetAttribute(match, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    const dim3 blocks((cols + wide - 1) / wide, (rows + kTall - 1) / kTall);
    match<<<blocks, dim3(kWide, kTeams), bytes>>>(left, right, disparity, radius, shifts, rows, cols);
}
