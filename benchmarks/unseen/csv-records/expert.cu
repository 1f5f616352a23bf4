// Three kernels. Tiles of 4096 bytes (16 per thread, one vector load) count quotes, and line ends and commas for
// both states at the tile's begin; one block scans the tiles' counts; then each tile scans its threads and writes
// starts, and the rank of commas at each line end, whose differences are the fields. Ranks lie in scratch memory.
#include <cuda_runtime.h>

constexpr int kThreads = 256, kBytes = 16, kTile = kThreads * kBytes;

struct Counts {
    int odd;         // quotes, modulo 2
    int lines[2];    // that end records, if what is counted begins unquoted, and if quoted
    int commas[2];   // that end fields
};

// First a, then b.
__device__ __forceinline__ Counts then(const Counts& a, const Counts& b) {
    Counts c;
    c.odd = a.odd ^ b.odd;
#pragma unroll
    for (int s = 0; s < 2; ++s) {
        c.lines[s] = a.lines[s] + ((s ^ a.odd) ? b.lines[1] : b.lines[0]);
        c.commas[s] = a.commas[s] + ((s ^ a.odd) ? b.commas[1] : b.commas[0]);
    }
    return c;
}

__device__ __forceinline__ Counts from_lane(const Counts& a, int lane) {
    Counts c;
    c.odd = __shfl_sync(0xffffffffu, a.odd, lane);
    for (int s = 0; s < 2; ++s) {
        c.lines[s] = __shfl_sync(0xffffffffu, a.lines[s], lane);
        c.commas[s] = __shfl_sync(0xffffffffu, a.commas[s], lane);
    }
    return c;
}

// What lies before this thread, in `before`; the result is the block's total.
__device__ Counts scan_block(Counts own, Counts& before) {
    __shared__ Counts warps[kThreads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Counts sum = own;
    for (int d = 1; d < 32; d *= 2) {
        const Counts other = from_lane(sum, max(lane - d, 0));
        if (lane >= d) sum = then(other, sum);
    }
    before = from_lane(sum, max(lane - 1, 0));
    if (lane == 0) before = Counts{};
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    Counts total = {};
    Counts ahead = {};
    for (int w = 0; w < kThreads / 32; ++w) {
        if (w == warp) ahead = total;
        total = then(total, warps[w]);
    }
    before = then(ahead, before);
    __syncthreads();
    return total;
}

struct Bytes {
    unsigned char at[kBytes];
};

__device__ __forceinline__ Bytes load(const unsigned char* text, int first, int length) {
    Bytes b;
    if (first + kBytes <= length) {
        *reinterpret_cast<uint4*>(b.at) = *reinterpret_cast<const uint4*>(text + first);
    } else {
        for (int k = 0; k < kBytes; ++k) b.at[k] = first + k < length ? text[first + k] : 0;
    }
    return b;
}

__device__ __forceinline__ Counts count(const Bytes& b) {
    Counts c = {};
#pragma unroll
    for (int k = 0; k < kBytes; ++k) {
        const int line = b.at[k] == '\n', comma = b.at[k] == ',';
        c.odd ^= b.at[k] == '"';
        c.lines[0] += line & !c.odd;
        c.lines[1] += line & c.odd;
        c.commas[0] += comma & !c.odd;
        c.commas[1] += comma & c.odd;
    }
    return c;
}

__global__ void __launch_bounds__(kThreads) count_tiles(const unsigned char* __restrict__ text, Counts* tiles, int length) {
    const int first = blockIdx.x * kTile + threadIdx.x * kBytes;
    Counts before;
    const Counts total = scan_block(count(load(text, first, length)), before);
    if (threadIdx.x == 0) tiles[blockIdx.x] = total;
}

// tiles[t] becomes what lies before tile t; the text's last record ends without a line end, or not.
__global__ void __launch_bounds__(kThreads) scan_tiles(const unsigned char* text, Counts* tiles, int count, int* start,
                                                       int* ranks, int* records, int length) {
    Counts ahead = {};
    for (int first = 0; first < count; first += kThreads) {
        const int t = first + threadIdx.x;
        Counts before;
        const Counts total = scan_block(t < count ? tiles[t] : Counts{}, before);
        if (t < count) tiles[t] = then(ahead, before);
        ahead = then(ahead, total);
    }
    if (threadIdx.x == 0) {
        const bool open = length > 0 && (text[length - 1] != '\n' || ahead.odd);
        if (length > 0) start[0] = 0;
        if (open) ranks[ahead.lines[0]] = ahead.commas[0];
        *records = ahead.lines[0] + open;
    }
}

__global__ void __launch_bounds__(kThreads) write(const unsigned char* __restrict__ text, const Counts* __restrict__ tiles,
                                                  int* __restrict__ start, int* __restrict__ ranks, int length) {
    const int first = blockIdx.x * kTile + threadIdx.x * kBytes;
    const Bytes b = load(text, first, length);
    Counts before;
    scan_block(count(b), before);
    before = then(tiles[blockIdx.x], before);
    int quoted = before.odd, record = before.lines[0], commas = before.commas[0];
#pragma unroll
    for (int k = 0; k < kBytes; ++k) {
        if (first + k >= length) break;
        quoted ^= b.at[k] == '"';
        commas += b.at[k] == ',' && !quoted;
        if (b.at[k] == '\n' && !quoted) {
            ranks[record++] = commas;
            if (first + k + 1 < length) start[record] = first + k + 1;
        }
    }
}

__global__ void __launch_bounds__(256) count_fields(const int* __restrict__ ranks, const int* __restrict__ records,
                                                    int* __restrict__ fields) {
    const int n = *records;
    for (int r = blockIdx.x * 256 + threadIdx.x; r < n; r += gridDim.x * 256) {
        fields[r] = ranks[r] - (r > 0 ? ranks[r - 1] : 0) + 1;
    }
}

extern "C" void csv_records(const unsigned char* text, int* start, int* fields, int* records, int length) {
    const int count = (length + kTile - 1) / kTile;
    Counts* tiles;
    int* ranks;
    cudaMallocAsync((void**)&tiles, sizeof(Counts) * (count + 1), 0);
    cudaMallocAsync((void**)&ranks, sizeof(int) * (length + 1ull), 0);
    if (count > 0) count_tiles<<<count, kThreads>>>(text, tiles, length);
    scan_tiles<<<1, kThreads>>>(text, tiles, count, start, ranks, records, length);
    if (count > 0) write<<<count, kThreads>>>(text, tiles, start, ranks, length);
    count_fields<<<528, 256>>>(ranks, records, fields);
    cudaFreeAsync(ranks, 0);
    cudaFreeAsync(tiles, 0);
}
