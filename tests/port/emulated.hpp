// A CUDA device on the CPU: enough of the runtime for what a port is made of.
//
// Threads run one after the other, in the order that `backwards` says, so that iterations which
// depend on each other give other results. Memory has exactly its bytes, for the sanitizer to see.
#pragma once
#include <algorithm>
#include <climits>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
inline dim3 gridDim, blockDim, blockIdx, threadIdx;
inline bool backwards = std::getenv("BACKWARDS") != nullptr;
inline long launches = 0, most_threads = 0;

enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation };
enum cudaMemcpyKind {
    cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};

template <class T>
cudaError_t cudaMalloc(T** to, size_t bytes) {
    *to = static_cast<T*>(std::malloc(bytes));
    if (bytes) std::memset((void*)*to, 0xa7, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) { std::free(memory); return cudaSuccess; }
inline cudaError_t cudaMemset(void* to, int value, size_t bytes) {
    if (bytes) std::memset(to, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
    if (bytes) std::memmove(to, from, bytes);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbol(T& to, const void* from, size_t bytes) {
    std::memcpy((void*)&to, from, bytes);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& from, size_t bytes) {
    std::memcpy(to, (const void*)&from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }

template <class T, class U>
T atomicAdd(T* place, U value) { T old = *place; *place = T(old + value); return old; }
template <class T, class U>
T atomicMax(T* place, U value) { T old = *place; *place = std::max<T>(old, value); return old; }
template <class T, class U>
T atomicMin(T* place, U value) { T old = *place; *place = std::min<T>(old, value); return old; }
template <class T, class U>
T atomicOr(T* place, U value) { T old = *place; *place = T(old | value); return old; }
template <class T, class U>
T atomicExch(T* place, U value) { T old = *place; *place = value; return old; }
template <class T>
T atomicCAS(T* place, T compare, T value) {
    T old = *place;
    if (old == compare) *place = value;
    return old;
}

template <class Thread>
void emulated_launch(dim3 grid, dim3 block, Thread thread) {
    const long threads = 1L * grid.x * block.x;
    if (grid.x == 0 || block.x == 0 || block.x > 1024) std::abort();
    ++launches;
    most_threads = std::max(most_threads, threads);
    gridDim = grid;
    blockDim = block;
    for (long at = 0; at < threads; ++at) {
        const long which = backwards ? threads - 1 - at : at;
        blockIdx = dim3(which / block.x, 0, 0);
        threadIdx = dim3(which % block.x, 0, 0);
        thread();
    }
}

namespace cuda::std {
using ::std::numeric_limits;
}

namespace cub {

template <class Work>
cudaError_t in_room(void* room, size_t& bytes, Work work) {  // as CUB, which is called twice
    if (room == nullptr) bytes = 1;
    else work();
    return cudaSuccess;
}

struct DeviceScan {
    // By halves, so that an operation which is not associative gives other results.
    template <class T, class Op>
    static void halves(T* all, long long count, Op op) {
        if (count < 2) return;
        const long long half = count / 2;
        halves(all, half, op);
        halves(all + half, count - half, op);
        for (long long at = half; at < count; ++at) all[at] = op(all[half - 1], all[at]);
    }
    template <class In, class Out, class Op>
    static cudaError_t InclusiveScan(
        void* room, size_t& bytes, In in, Out out, Op op, long long count) {
        return in_room(room, bytes, [&] {
            using T = decltype(op(*in, *in));
            std::vector<T> all(in, in + count);
            halves(all.data(), count, op);
            std::copy(all.begin(), all.end(), out);
        });
    }
    template <class In, class Out, class Op, class T>
    static cudaError_t ExclusiveScan(
        void* room, size_t& bytes, In in, Out out, Op op, T first, long long count) {
        return in_room(room, bytes, [&] {
            std::vector<T> all(1, first);
            all.insert(all.end(), in, in + count);
            halves(all.data(), count, op);
            std::copy(all.begin(), all.begin() + count, out);
        });
    }
};

struct DeviceReduce {
    template <class In, class Out, class Op, class T>
    static cudaError_t Reduce(
        void* room, size_t& bytes, In in, Out out, long long count, Op op, T first) {
        return in_room(room, bytes, [&] {
            std::vector<T> all(1, first);
            all.insert(all.end(), in, in + count);
            DeviceScan::halves(all.data(), count + 1, op);
            *out = all.back();
        });
    }
};

struct DeviceRadixSort {
    template <class K, class V, class Less>
    static void sort(const K* keys, K* sorted, const V* in, V* out, long long count, Less less) {
        std::vector<long long> order(count);
        for (long long at = 0; at < count; ++at) order[at] = at;
        std::stable_sort(order.begin(), order.end(), [&](long long a, long long b) {
            return less(keys[a], keys[b]);
        });
        for (long long at = 0; at < count; ++at) {
            sorted[at] = keys[order[at]];
            if (in != nullptr) out[at] = in[order[at]];
        }
    }
    template <class K, class V>
    static cudaError_t SortPairs(void* room, size_t& bytes, const K* keys, K* sorted, const V* in,
                                 V* out, long long count) {
        return in_room(room, bytes, [&] { sort(keys, sorted, in, out, count, std::less<K>()); });
    }
    template <class K, class V>
    static cudaError_t SortPairsDescending(void* room, size_t& bytes, const K* keys, K* sorted,
                                           const V* in, V* out, long long count) {
        return in_room(room, bytes, [&] { sort(keys, sorted, in, out, count, std::greater<K>()); });
    }
    template <class K>
    static cudaError_t SortKeys(void* room, size_t& bytes, const K* keys, K* sorted,
                                long long count) {
        return SortPairs(room, bytes, keys, sorted, (K*)nullptr, (K*)nullptr, count);
    }
    template <class K>
    static cudaError_t SortKeysDescending(void* room, size_t& bytes, const K* keys, K* sorted,
                                          long long count) {
        return SortPairsDescending(room, bytes, keys, sorted, (K*)nullptr, (K*)nullptr, count);
    }
};

}  // namespace cub
