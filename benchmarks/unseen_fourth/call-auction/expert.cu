// Orders are added to a table in L2 by atomics, four per thread from 16-byte loads; then a warp per stock: sums from
// above are put down in place, sums from below and the best price follow by shuffles.
#include <cuda_runtime.h>

struct Order {
    int stock, tick, quantity;
};

struct Opening {
    long long volume, over;
    long long tick;
};

__device__ __forceinline__ void put(unsigned long long* table, int stock, int tick, int quantity, int ticks) {
    const bool buys = quantity > 0;
    const int at = tick < 0 ? (buys ? ticks - 1 : 0) : tick;
    const long long pieces = buys ? (long long)quantity : -(long long)quantity;
    if (pieces) atomicAdd(table + ((size_t)stock * 2 + (buys ? 0 : 1)) * ticks + at, (unsigned long long)pieces);
}

__global__ void __launch_bounds__(256) count(const Order* __restrict__ orders, unsigned long long* __restrict__ table,
                                             int norders, int ticks) {
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 4 <= norders && ((size_t)orders & 15) == 0) {
        const int4* from = (const int4*)(orders + first);
        const int4 a = from[0], b = from[1], c = from[2];
        put(table, a.x, a.y, a.z, ticks);
        put(table, a.w, b.x, b.y, ticks);
        put(table, b.z, b.w, c.x, ticks);
        put(table, c.y, c.z, c.w, ticks);
    } else {
        for (int i = first; i < min(first + 4, norders); ++i) {
            put(table, orders[i].stock, orders[i].tick, orders[i].quantity, ticks);
        }
    }
}

__device__ __forceinline__ bool better(const Opening& a, const Opening& b) {
    if (a.volume != b.volume) return a.volume > b.volume;
    if (a.over != b.over) return a.over < b.over;
    return a.tick < b.tick;
}

__global__ void __launch_bounds__(128) open_stocks(long long* __restrict__ table, Opening* __restrict__ openings,
                                                   int stocks, int ticks) {
    const int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (s >= stocks) return;  // a whole warp
    long long *wanted = table + (size_t)s * 2 * ticks, *offered = wanted + ticks;
    long long sum = 0;
    for (int done = 0; done < ticks; done += 32) {  // from the last tick down
        const int t = ticks - 1 - done - lane;
        long long v = t >= 0 ? wanted[t] : 0;
        for (int step = 1; step < 32; step *= 2) {
            const long long other = __shfl_up_sync(0xffffffffu, v, step);
            if (lane >= step) v += other;
        }
        v += sum;
        if (t >= 0) wanted[t] = v;
        sum = __shfl_sync(0xffffffffu, v, 31);
    }
    __syncwarp();
    Opening best = {0, 0, -1};
    sum = 0;
    for (int begin = 0; begin < ticks; begin += 32) {
        const int t = begin + lane;
        long long v = t < ticks ? offered[t] : 0;
        for (int step = 1; step < 32; step *= 2) {
            const long long other = __shfl_up_sync(0xffffffffu, v, step);
            if (lane >= step) v += other;
        }
        v += sum;
        sum = __shfl_sync(0xffffffffu, v, 31);
        if (t < ticks) {
            const long long above = wanted[t], volume = min(above, v);
            const Opening one = {volume, max(above, v) - volume, t};
            if (volume > 0 && (best.volume == 0 || better(one, best))) best = one;
        }
    }
    for (int step = 16; step > 0; step /= 2) {
        Opening other;
        other.volume = __shfl_xor_sync(0xffffffffu, best.volume, step);
        other.over = __shfl_xor_sync(0xffffffffu, best.over, step);
        other.tick = __shfl_xor_sync(0xffffffffu, best.tick, step);
        if (other.volume > 0 && (best.volume == 0 || better(other, best))) best = other;
    }
    if (lane == 0) openings[s] = best;
}

extern "C" void call_auction(const Order* orders, Opening* openings, int norders, int stocks, int ticks) {
    const size_t bytes = sizeof(long long) * 2 * stocks * ticks;
    unsigned long long* table;
    cudaMallocAsync(&table, bytes, 0);
    cudaMemsetAsync(table, 0, bytes, 0);
    count<<<(norders + 1023) / 1024, 256>>>(orders, table, norders, ticks);
    open_stocks<<<(stocks + 3) / 4, 128>>>((long long*)table, openings, stocks, ticks);
    cudaFreeAsync(table, 0);
}
