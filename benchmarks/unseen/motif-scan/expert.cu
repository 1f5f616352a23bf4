// Four bases become one byte and each four positions a table of 256 sums in shared memory. A warp takes a read:
// lanes take places, shuffles find the best; (score, place) travel as one ordered 64-bit key.
#include <climits>
#include <cuda_runtime.h>

constexpr int kWarps = 8;

__global__ void __launch_bounds__(32 * kWarps) scan_reads(const unsigned char* __restrict__ bases,
                                                          const int* __restrict__ matrix, int* __restrict__ best_score,
                                                          int* __restrict__ best_place, int reads, int length, int width,
                                                          int stride) {
    extern __shared__ int room[];  // tables, then for each warp a read and its codes
    const int groups = (width + 3) / 4, lane = threadIdx.x % 32, warp = threadIdx.x / 32, places = length - width + 1;
    int* table = room;
    unsigned char* code = reinterpret_cast<unsigned char*>(room + 256 * groups) + warp * stride;
    for (int e = threadIdx.x; e < 256 * groups; e += 32 * kWarps) {
        int sum = 0;
        for (int k = 0; k < 4; ++k) {
            const int position = e / 256 * 4 + k;
            if (position < width) sum += matrix[4 * position + (e >> 2 * k & 3)];
        }
        table[e] = sum;
    }
    __syncthreads();
    for (int r = blockIdx.x * kWarps + warp; r < reads; r += gridDim.x * kWarps) {
        const unsigned char* read = bases + (size_t)r * length;
        for (int p0 = 0; p0 < length; p0 += 32) {
            const int p = p0 + lane;
            // the base of this place and, by shuffles, of the three that follow
            const int own = p < length ? read[p] : 0;
            const int beyond = lane < 3 && p + 32 < length ? read[p + 32] : 0;
            int four = own;
            for (int k = 1; k < 4; ++k) {
                const int near = __shfl_down_sync(0xffffffffu, own, k);
                const int far = __shfl_sync(0xffffffffu, beyond, (lane + k) % 32);
                four |= (lane + k < 32 ? near : far) << 2 * k;
            }
            if (p < length) code[p] = (unsigned char)four;
        }
        __syncwarp();
        long long best = LLONG_MIN;
        for (int p = lane; p < places; p += 32) {
            int score = 0;
            for (int g = 0; g < groups; ++g) score += table[256 * g + code[p + 4 * g]];
            const long long key = (long long)score << 32 | (unsigned)(INT_MAX - p);  // earlier places are larger
            best = key > best ? key : best;
        }
        for (int half = 16; half > 0; half /= 2) {
            const long long other = __shfl_xor_sync(0xffffffffu, best, half);
            best = other > best ? other : best;
        }
        if (lane == 0) {
            best_score[r] = (int)(best >> 32);
            best_place[r] = INT_MAX - (int)(best & 0xffffffff);
        }
        __syncwarp();
    }
}

extern "C" void motif_scan(const unsigned char* bases, const int* matrix, int* best_score, int* best_place, int reads,
                           int length, int width) {
    const int groups = (width + 3) / 4, stride = (length + 15) / 16 * 16;
    const int bytes = 1024 * groups + kWarps * stride;
    cudaFuncSetAttribute(scan_reads, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    const int wanted = (reads + kWarps - 1) / kWarps, blocks = wanted < 132 * 8 ? wanted : 132 * 8;
    scan_reads<<<blocks, 32 * kWarps, bytes>>>(bases, matrix, best_score, best_place, reads, length, width, stride);
}
