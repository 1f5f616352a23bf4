// problem: corpus/problems/prefix-sum
// style: decoupled look-back by a whole warp, flags with acquire and release (cuda::atomic_ref)
#include <cuda/atomic>
#include <cuda_runtime.h>

using u64 = unsigned long long;

enum { THREADS = 256, ITEMS = 8, TILE = THREADS * ITEMS, WARPS = THREADS / 32 };
enum { NOTHING = 0, AGGREGATE = 1, PREFIX = 2 };
#define EVERY_LANE 0xffffffffu

struct Tiles {
  int *flag;
  u64 *aggregate, *prefix;
};

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

// Sum of all tiles before this one; called by one whole warp.
__device__ u64 look_back(Tiles tiles, int tile) {
  const int lane = threadIdx.x % 32;
  u64 sum = 0;
  for (int at = tile - 1 - lane;; at -= 32) {
    int state = PREFIX;  // of the virtual tile -1: zero
    u64 value = 0;
    if (at >= 0) {
      Flag flag(tiles.flag[at]);
      do {
        state = flag.load(cuda::std::memory_order_acquire);
      } while (state == NOTHING);
      value = state == PREFIX ? tiles.prefix[at] : tiles.aggregate[at];
    }
    __syncwarp();
    const unsigned ends = __ballot_sync(EVERY_LANE, state == PREFIX);
    const int last = ends ? __ffs(ends) - 1 : 31;
    if (lane > last) value = 0;
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(EVERY_LANE, value, step);
    sum += value;
    if (ends) return sum;
  }
}

__global__ void scan(const u64 *in, u64 *out, long long n, Tiles tiles, int *ticket) {
  __shared__ u64 of_warp[WARPS];
  __shared__ u64 before_tile;
  __shared__ int drawn;
  if (threadIdx.x == 0) drawn = atomicAdd(ticket, 1);
  __syncthreads();
  const int tile = drawn, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long first = static_cast<long long>(tile) * TILE + threadIdx.x * ITEMS;

  u64 mine[ITEMS], sum = 0;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    sum += first + k < n ? in[first + k] : 0;
    mine[k] = sum;
  }
  u64 upto = sum;
  for (int step = 1; step < 32; step *= 2) {
    const u64 lower = __shfl_up_sync(EVERY_LANE, upto, step);
    if (lane >= step) upto += lower;
  }
  if (lane == 31) of_warp[warp] = upto;
  __syncthreads();
  u64 before = upto - sum, total = 0;
  for (int w = 0; w < WARPS; ++w) {
    if (w < warp) before += of_warp[w];
    total += of_warp[w];
  }

  if (warp == 0) {
    if (lane == 0) {
      tiles.aggregate[tile] = total;
      Flag(tiles.flag[tile]).store(AGGREGATE, cuda::std::memory_order_release);
    }
    __syncwarp();
    const u64 earlier = look_back(tiles, tile);
    if (lane == 0) {
      tiles.prefix[tile] = earlier + total;
      Flag(tiles.flag[tile]).store(PREFIX, cuda::std::memory_order_release);
      before_tile = earlier;
    }
  }
  __syncthreads();
  before += before_tile;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k)
    if (first + k < n) out[first + k] = before + mine[k];
}

extern "C" void prefix_sum(const unsigned long long *in, unsigned long long *out, long long n) {
  const int count = static_cast<int>((n + TILE - 1) / TILE);
  const size_t bytes = static_cast<size_t>(n) * sizeof(u64);
  u64 *from, *to;
  Tiles tiles;
  cudaMalloc(&from, bytes);
  cudaMalloc(&to, bytes);
  cudaMalloc(&tiles.aggregate, count * sizeof(u64));
  cudaMalloc(&tiles.prefix, count * sizeof(u64));
  cudaMalloc(&tiles.flag, (count + 1) * sizeof(int));
  cudaMemset(tiles.flag, 0, (count + 1) * sizeof(int));
  cudaMemcpy(from, in, bytes, cudaMemcpyHostToDevice);
  scan<<<count, THREADS>>>(from, to, n, tiles, tiles.flag + count);
  cudaMemcpy(out, to, bytes, cudaMemcpyDeviceToHost);
  cudaFree(from);
  cudaFree(to);
  cudaFree(tiles.aggregate);
  cudaFree(tiles.prefix);
  cudaFree(tiles.flag);
}
