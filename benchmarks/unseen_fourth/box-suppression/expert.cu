// Each box counts those before it, which sorts them; then 64 by 64 boxes make words of who overlaps whom, and one block
// goes through the words of 64 boxes at a time: one thread decides among them, all threads strike out the later ones.
#include <cuda_runtime.h>

#include <cstdint>

typedef unsigned long long Word;

struct Box {
    int16_t x, y, width, height;
};

constexpr int kBlock = 256;

__global__ void __launch_bounds__(kBlock) sort(const Box* __restrict__ boxes, const uint16_t* __restrict__ score,
                                               int* __restrict__ order, int4* __restrict__ sorted,
                                               int* __restrict__ good, int least, int n) {
    __shared__ int tile[kBlock];
    const int i = blockIdx.x * kBlock + threadIdx.x, mine = i < n ? score[i] : -1;
    int rank = 0, all = 0;
    for (int begin = 0; begin < n; begin += kBlock) {
        __syncthreads();
        tile[threadIdx.x] = begin + (int)threadIdx.x < n ? score[begin + threadIdx.x] : -1;
        __syncthreads();
        const int here = min(kBlock, n - begin);
#pragma unroll 8
        for (int j = 0; j < here; ++j) {
            const int other = tile[j];
            all += other >= least;
            rank += other > mine || (other == mine && begin + j < i);
        }
    }
    if (i == 0) *good = all;
    if (i < n && mine >= least) {
        const Box b = boxes[i];
        order[rank] = i;
        sorted[rank] = {b.x, b.y, b.width, b.height};
    }
}

__global__ void __launch_bounds__(64) overlaps(const int4* __restrict__ sorted, const int* __restrict__ good,
                                               Word* __restrict__ mask, int words, int percent) {
    __shared__ int4 tile[64];
    const int n = *good, row = blockIdx.y * 64 + threadIdx.x, first = blockIdx.x * 64;
    if (blockIdx.x < blockIdx.y || first >= n) return;  // a whole block
    if (first + (int)threadIdx.x < n) tile[threadIdx.x] = sorted[first + threadIdx.x];
    __syncthreads();
    if (row >= n) return;
    const int4 b = sorted[row];
    const int here = min(64, n - first), right = b.x + b.z, bottom = b.y + b.w, area = b.z * b.w;
    Word word = 0;
    for (int j = max(row + 1 - first, 0); j < here; ++j) {
        const int4 o = tile[j];
        const int w = min(right, o.x + o.z) - max(b.x, o.x), h = min(bottom, o.y + o.w) - max(b.y, o.y);
        const int shared = w > 0 && h > 0 ? w * h : 0;
        if (100 * shared > percent * (area + o.z * o.w - shared)) word |= (Word)1 << j;
    }
    mask[(size_t)row * words + blockIdx.x] = word;
}

__global__ void __launch_bounds__(kBlock) choose(const Word* __restrict__ mask, const int* __restrict__ order,
                                                 const int* __restrict__ good, Word* __restrict__ gone,
                                                 int* __restrict__ kept, int* __restrict__ nkept, int words) {
    __shared__ Word own[64];
    __shared__ Word keep;
    const int n = *good, t = threadIdx.x;
    int count = 0;
    for (int w = t; w < words; w += kBlock) gone[w] = 0;
    for (int first = 0; first < n; first += 64) {
        const int here = min(64, n - first), block = first / 64;
        if (t < here) own[t] = mask[(size_t)(first + t) * words + block];
        __syncthreads();
        if (t == 0) {
            Word open = ~gone[block] & (here == 64 ? ~(Word)0 : ((Word)1 << here) - 1), good_ones = 0;
            while (open) {
                const int best = __ffsll((long long)open) - 1;
                good_ones |= (Word)1 << best;
                open &= ~(own[best] | (Word)1 << best);
            }
            keep = good_ones;
        }
        __syncthreads();
        const Word chosen = keep;
        if (t < here && (chosen >> t & 1)) kept[count + __popcll(chosen & (((Word)1 << t) - 1))] = order[first + t];
        count += __popcll(chosen);
        for (int w = block + 1 + t; w < (n + 63) / 64; w += kBlock) {
            Word struck = gone[w];
            for (Word left = chosen; left; left &= left - 1) {
                struck |= mask[(size_t)(first + __ffsll((long long)left) - 1) * words + w];
            }
            gone[w] = struck;
        }
        __syncthreads();
    }
    if (t == 0) *nkept = count;
}

extern "C" void box_suppression(const Box* boxes, const uint16_t* score, int* kept, int* nkept, int least, int percent,
                                int n) {
    const int words = (n + 63) / 64;
    char* room;
    cudaMallocAsync(&room, sizeof(int4) * n + sizeof(Word) * words * ((size_t)n + 1) + sizeof(int) * (n + 1), 0);
    int4* sorted = (int4*)room;
    Word *mask = (Word*)(sorted + n), *gone = mask + (size_t)n * words;
    int *order = (int*)(gone + words), *good = order + n;
    sort<<<(n + kBlock - 1) / kBlock, kBlock>>>(boxes, score, order, sorted, good, least, n);
    overlaps<<<dim3(words, words), 64>>>(sorted, good, mask, words, percent);
    choose<<<1, kBlock>>>(mask, order, good, gone, kept, nkept, words);
    cudaFreeAsync(room, 0);
}
