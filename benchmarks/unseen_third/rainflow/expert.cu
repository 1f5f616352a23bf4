// Sixteen threads share a channel: what the counting leaves over of a part is again a load history, so the parts'
// leftovers are counted once more in turn. Stacks lie in global memory, their upper three points in registers.
#include <cuda_runtime.h>

constexpr int kParts = 16;

struct Counter {
    float* stack;  // below the upper three
    double a, b, y, sum;
    int n, whole;  // n: all points on the stack

    __device__ void push(float next) {
        const double z = next;
        if (n >= 1 && z == y) return;
        if (n >= 2 && (y > b) == (z > y)) {  // y was no turning point
            y = b;
            b = a;
            --n;
            if (n >= 3) a = stack[n - 3];
        }
        double outer = fabs(z - y), inner = fabs(y - b);
        while (n >= 3 && inner <= outer && inner <= fabs(b - a)) {
            sum += inner * inner * inner;
            ++whole;
            n -= 2;
            y = a;
            if (n >= 2) b = stack[n - 2];
            if (n >= 3) a = stack[n - 3];
            outer = fabs(z - y);
            inner = fabs(y - b);
        }
        if (n >= 3) stack[n - 3] = (float)a;
        a = b;
        b = y;
        y = z;
        ++n;
    }
    __device__ void settle() {
        if (n >= 3) stack[n - 3] = (float)a;
        if (n >= 2) stack[n - 2] = (float)b;
        stack[n - 1] = (float)y;
    }
};

__global__ void __launch_bounds__(64) count_cycles(const float* __restrict__ load, float* rooms,
                                                   double* __restrict__ damage, int* __restrict__ cycles,
                                                   int* __restrict__ residue, int channels, int samples) {
    const int c = (blockIdx.x * blockDim.x + threadIdx.x) / kParts, part = threadIdx.x % kParts;
    const int each = (samples + kParts - 1) / kParts;
    const int first = min(samples, part * each), end = min(samples, first + each);
    const size_t row = (size_t)min(c, channels - 1) * samples;
    Counter own = {rooms + row + first, 0.0, 0.0, 0.0, 0.0, 0, 0};
    if (c < channels) {
        for (int s = first; s < end; ++s) own.push(load[row + s]);
        if (own.n) own.settle();
    }
    __syncwarp();
    const int lane = threadIdx.x % 32;
    Counter all = own;  // the first part's thread goes on with the others' leftovers
    for (int k = 1; k < kParts; ++k) {
        const int left = __shfl_sync(0xffffffffu, own.n, lane / kParts * kParts + k);
        if (part == 0 && c < channels) {
            const float* points = rooms + row + min(samples, k * each);
            for (int p = 0; p < left; ++p) all.push(points[p]);
        }
    }
    double sum = part == 0 ? all.sum : own.sum;
    int whole = part == 0 ? all.whole : own.whole;
    for (int step = kParts / 2; step; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
        whole += __shfl_xor_sync(0xffffffffu, whole, step);
    }
    if (part != 0 || c >= channels) return;
    all.settle();
    for (int k = 1; k < all.n; ++k) {
        const double range = fabs((double)all.stack[k] - (double)all.stack[k - 1]);
        sum += 0.5 * range * range * range;
    }
    damage[c] = sum;
    cycles[c] = whole;
    residue[c] = all.n;
}

extern "C" void rainflow(const float* load, double* damage, int* cycles, int* residue, int channels, int samples) {
    float* rooms;
    cudaMallocAsync(&rooms, sizeof(float) * (size_t)channels * samples, 0);
    count_cycles<<<(channels * kParts + 63) / 64, 64>>>(load, rooms, damage, cycles, residue, channels, samples);
    cudaFreeAsync(rooms, 0);
}
