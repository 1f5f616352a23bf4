// Two launches per seam. The first, one block, finds the seam: rows go by in strips of 32, for which a warp has 128
// columns in registers (64 of its own, the rest a halo that shrinks), so that it meets the others once per strip. Each
// column carries along where its path entered the strip: the way back is a step per strip, then all strips at once.
// The second takes the seam out and mends the contrasts beside it.
#include <cuda_runtime.h>

constexpr int kRows = 32, kOwn = 64, kFar = 1 << 30;
constexpr unsigned kAll = 0xffffffffu;

// Contrast of a picture from which a seam was taken already (seam: its column per row; null: none).
__device__ __forceinline__ int grey_at(const unsigned char* grey, const int* seam, int stride, int y, int x) {
    return grey[(size_t)y * stride + x + (seam && x >= seam[y] ? 1 : 0)];
}

__device__ __forceinline__ short contrast(const unsigned char* grey, const int* seam, int stride, int h, int w, int y,
                                          int x) {
    const int left = grey_at(grey, seam, stride, y, max(x - 1, 0));
    const int right = grey_at(grey, seam, stride, y, min(x + 1, w - 1));
    const int up = grey_at(grey, seam, stride, max(y - 1, 0), x);
    const int down = grey_at(grey, seam, stride, min(y + 1, h - 1), x);
    return (short)(abs(right - left) + abs(down - up));
}

__global__ void __launch_bounds__(256) contrasts(const unsigned char* __restrict__ picture, unsigned char* grey,
                                                 short* energy, int h, int w) {
    const int y = blockIdx.x;
    for (int x = threadIdx.x; x < w; x += blockDim.x) {
        grey[(size_t)y * w + x] = picture[(size_t)y * w + x];
        energy[(size_t)y * w + x] = contrast(picture, nullptr, w, h, w, y, x);
    }
}

__global__ void __launch_bounds__(1024) find_seam(const short* __restrict__ energy, int* costs, int* entry,
                                                  signed char* way, int* exits, int* seam, long long* total, int h,
                                                  int stride, int w) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int strips = (h + kRows - 1) / kRows, pieces = (w + kOwn - 1) / kOwn;
    for (int t = 0; t < strips; ++t) {
        const int* from = costs + t % 2 * stride;
        int* to = costs + (t + 1) % 2 * stride;
        const int last = min(h, (t + 1) * kRows);
        for (int piece = warp; piece < pieces; piece += 32) {
            const int x = piece * kOwn - kRows + 4 * lane;
            const bool own = lane >= 8 && lane < 24;
            int c[4], o[4];
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                c[q] = x + q >= 0 && x + q < w ? (t ? from[x + q] : 0) : kFar;
                o[q] = x + q;
            }
#pragma unroll 8
            for (int y = t * kRows; y < last; ++y) {
                int cost[6], origin[6];
                cost[0] = __shfl_up_sync(kAll, c[3], 1);
                origin[0] = __shfl_up_sync(kAll, o[3], 1);
                cost[5] = __shfl_down_sync(kAll, c[0], 1);
                origin[5] = __shfl_down_sync(kAll, o[0], 1);
#pragma unroll
                for (int q = 0; q < 4; ++q) {
                    cost[q + 1] = c[q];
                    origin[q + 1] = o[q];
                }
#pragma unroll
                for (int q = 0; q < 4; ++q) {
                    const bool inside = x + q >= 0 && x + q < w;
                    int step = -1, best = cost[q], came = origin[q];
                    if (cost[q + 1] < best) {
                        step = 0;
                        best = cost[q + 1];
                        came = origin[q + 1];
                    }
                    if (cost[q + 2] < best) {
                        step = 1;
                        best = cost[q + 2];
                        came = origin[q + 2];
                    }
                    c[q] = inside ? best + energy[(size_t)y * stride + x + q] : kFar;
                    o[q] = came;
                    if (own && inside) way[(size_t)y * stride + x + q] = (signed char)step;
                }
            }
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                if (own && x + q < w) {
                    to[x + q] = c[q];
                    entry[(size_t)t * stride + x + q] = o[q];
                }
            }
        }
        __syncthreads();
    }
    if (warp == 0) {
        const int* last = costs + strips % 2 * stride;
        int best = kFar, at = 0;
        for (int x = lane; x < w; x += 32) {
            if (last[x] < best) {
                best = last[x];
                at = x;
            }
        }
        for (int step = 16; step; step /= 2) {
            const int other = __shfl_xor_sync(kAll, best, step), its = __shfl_xor_sync(kAll, at, step);
            if (other < best || (other == best && its < at)) {
                best = other;
                at = its;
            }
        }
        if (lane == 0) {
            *total += best;
            for (int t = strips - 1; t >= 0; --t) {
                exits[t] = at;
                at = entry[(size_t)t * stride + at];
            }
        }
    }
    __syncthreads();
    for (int t = threadIdx.x; t < strips; t += blockDim.x) {
        int x = exits[t];
        for (int y = min(h, (t + 1) * kRows) - 1; y >= t * kRows; --y) {
            seam[y] = x;
            if (y > 0) x += way[(size_t)y * stride + x];
        }
    }
}

__global__ void __launch_bounds__(256) take_out(const unsigned char* __restrict__ grey,
                                                const short* __restrict__ energy, const int* __restrict__ seam,
                                                unsigned char* __restrict__ new_grey, short* __restrict__ new_energy,
                                                int h, int stride, int new_stride, int w) {
    const int y = blockIdx.x, gone = seam[y];
    for (int x = threadIdx.x; x < w; x += blockDim.x) {
        const size_t old = (size_t)y * stride + x + (x >= gone), to = (size_t)y * new_stride + x;
        new_grey[to] = grey[old];
        const bool beside = x >= gone - 2 && x <= gone + 2;
        new_energy[to] = beside ? contrast(grey, seam, stride, h, w, y, x) : energy[old];
    }
}

extern "C" void seam_carving(const unsigned char* picture, unsigned char* narrow, long long* total, int h, int w,
                             int seams) {
    const size_t cells = (size_t)h * w;
    const int strips = (h + kRows - 1) / kRows;
    unsigned char* grey;
    short* energy;
    signed char* way;
    int* numbers;
    cudaMallocAsync(&grey, 2 * cells, 0);
    cudaMallocAsync(&energy, 2 * cells * sizeof(short), 0);
    cudaMallocAsync(&way, cells, 0);
    cudaMallocAsync(&numbers, sizeof(int) * (2 * (size_t)w + (size_t)strips * w + strips + h), 0);
    int *costs = numbers, *entry = costs + 2 * w, *exits = entry + (size_t)strips * w, *seam = exits + strips;
    cudaMemsetAsync(total, 0, sizeof(long long), 0);
    contrasts<<<h, 256>>>(picture, grey, energy, h, w);
    for (int k = 0; k < seams; ++k) {
        unsigned char *old = grey + k % 2 * cells, *fresh = k + 1 < seams ? grey + (k + 1) % 2 * cells : narrow;
        short *old_energy = energy + k % 2 * cells, *fresh_energy = energy + (k + 1) % 2 * cells;
        const int stride = k + 1 < seams ? w : w - seams;
        find_seam<<<1, 1024>>>(old_energy, costs, entry, way, exits, seam, total, h, w, w - k);
        take_out<<<h, 256>>>(old, old_energy, seam, fresh, fresh_energy, h, w, stride, w - k - 1);
    }
    cudaFreeAsync(numbers, 0);
    cudaFreeAsync(way, 0);
    cudaFreeAsync(energy, 0);
    cudaFreeAsync(grey, 0);
}
