// A warp takes 512 consecutive peaks, however the groups lie, and walks over the groups in them. A group inside
// is written at once; parts of longer ones meet by atomics in scratch memory and are finished by a last kernel.
#include <cuda_runtime.h>

constexpr int kChunk = 512, kWarps = 8;

struct Scratch {
    double moment, total;
    unsigned long long apex;  // height, then the place from the end, so that the first of equals is the largest
};

__device__ __forceinline__ bool split(int first, int last) { return last > first && first / kChunk != (last - 1) / kChunk; }

__device__ __forceinline__ void write(double moment, double total, int at, double* centroid, double* area, int* apex) {
    *centroid = total > 0 ? moment / total : 0.0;
    *area = total;
    *apex = at;
}

__global__ void __launch_bounds__(256) prepare(const int* __restrict__ start, Scratch* __restrict__ scratch,
                                               double* __restrict__ centroid, double* __restrict__ area,
                                               int* __restrict__ apex, int groups) {
    const int g = blockIdx.x * 256 + threadIdx.x;
    if (g >= groups) return;
    const int first = start[g], last = start[g + 1];
    if (first == last) write(0, 0, -1, centroid + g, area + g, apex + g);
    else if (split(first, last)) scratch[g] = {0, 0, 0};
}

__global__ void __launch_bounds__(32 * kWarps) measure(const double* __restrict__ mz, const float* __restrict__ intensity,
                                                       const int* __restrict__ start, Scratch* scratch,
                                                       double* __restrict__ centroid, double* __restrict__ area,
                                                       int* __restrict__ apex, int peaks, int groups) {
    const int lane = threadIdx.x % 32, chunk = blockIdx.x * kWarps + threadIdx.x / 32;
    const int low = chunk * kChunk, high = min(low + kChunk, peaks);
    if (low >= peaks) return;
    int g = 0;  // the last group that begins at or before the chunk's first peak
    for (int end = groups; end - g > 1;) {
        const int middle = (g + end) / 2;
        if (start[middle] <= low) g = middle;
        else end = middle;
    }
    for (int first = start[g]; g < groups && first < high; ++g) {
        const int last = start[g + 1], from = max(first, low), to = min(last, high);
        const bool shared = split(first, last);
        first = last;
        if (from >= to) continue;
        double moment = 0, total = 0;
        unsigned long long best = 0;
        for (int i = from + lane; i < to; i += 32) {
            const float height = intensity[i];
            moment += mz[i] * height;
            total += height;
            const unsigned long long key = (unsigned long long)__float_as_uint(height) << 32 | (0xffffffffu - i);
            best = key > best ? key : best;
        }
#pragma unroll
        for (int half = 16; half > 0; half /= 2) {
            moment += __shfl_xor_sync(0xffffffffu, moment, half);
            total += __shfl_xor_sync(0xffffffffu, total, half);
            const unsigned long long other = __shfl_xor_sync(0xffffffffu, best, half);
            best = other > best ? other : best;
        }
        if (lane == 0 && shared) {
            atomicAdd(&scratch[g].moment, moment);
            atomicAdd(&scratch[g].total, total);
            atomicMax(&scratch[g].apex, best);
        } else if (lane == 0) {
            write(moment, total, (int)(0xffffffffu - (unsigned)best), centroid + g, area + g, apex + g);
        }
    }
}

__global__ void __launch_bounds__(256) finish(const int* __restrict__ start, const Scratch* __restrict__ scratch,
                                              double* __restrict__ centroid, double* __restrict__ area,
                                              int* __restrict__ apex, int groups) {
    const int g = blockIdx.x * 256 + threadIdx.x;
    if (g >= groups || !split(start[g], start[g + 1])) return;
    const Scratch s = scratch[g];
    write(s.moment, s.total, (int)(0xffffffffu - (unsigned)s.apex), centroid + g, area + g, apex + g);
}

extern "C" void peak_centroids(const double* mz, const float* intensity, const int* start, double* centroid, double* area,
                               int* apex, int peaks, int groups) {
    const int blocks = (groups + 255) / 256, chunks = (peaks + kChunk - 1) / kChunk;
    Scratch* scratch;
    cudaMallocAsync((void**)&scratch, sizeof(Scratch) * groups, 0);
    prepare<<<blocks, 256>>>(start, scratch, centroid, area, apex, groups);
    measure<<<(chunks + kWarps - 1) / kWarps, 32 * kWarps>>>(mz, intensity, start, scratch, centroid, area, apex, peaks, groups);
    finish<<<blocks, 256>>>(start, scratch, centroid, area, apex, groups);
    cudaFreeAsync(scratch, 0);
}
