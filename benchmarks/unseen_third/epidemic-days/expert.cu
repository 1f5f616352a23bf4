// A launch per day, a thread per person. Who is infectious is a bit of a word that a warp makes by a ballot; only the
// healthy look at their contacts.
#include <cuda_runtime.h>

__device__ __forceinline__ unsigned draw(unsigned day, unsigned person, unsigned meeting) {
    unsigned x = day * 0x9e3779b1u ^ person * 0x85ebca77u ^ meeting * 0xc2b2ae3du;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

__global__ void __launch_bounds__(256) begin(const unsigned char* __restrict__ start,
                                             unsigned char* __restrict__ state, unsigned* __restrict__ sick, int ill,
                                             int people) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    const int now = p < people ? start[p] : 0;
    const unsigned word = __ballot_sync(0xffffffffu, now > 0 && now <= ill);
    if (p < people) state[p] = (unsigned char)now;
    if (p % 32 == 0) sick[p / 32] = word;
}

__global__ void __launch_bounds__(256) one_day(const int* __restrict__ contact, unsigned char* __restrict__ state,
                                               const unsigned* __restrict__ today, unsigned* __restrict__ tomorrow,
                                               int* __restrict__ cases, unsigned chance, int ill, int people,
                                               int contacts, int day) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    int next = p < people ? state[p] : 255;
    bool fresh = false;
    if (next == 0) {
        const int* mine = contact + (size_t)p * contacts;
#pragma unroll 8
        for (int c = 0; c < contacts; ++c) {
            const unsigned other = mine[c];
            if ((today[other / 32] >> other % 32 & 1u) && !fresh) fresh = draw(day, p, c) < chance;
        }
        next = fresh;
    } else if (next <= ill) {
        ++next;
    }
    if (p < people) state[p] = (unsigned char)next;
    const unsigned word = __ballot_sync(0xffffffffu, p < people && next > 0 && next <= ill);
    const unsigned new_ones = __ballot_sync(0xffffffffu, fresh);
    if (p % 32 == 0) {
        tomorrow[p / 32] = word;
        if (new_ones) atomicAdd(cases + day, __popc(new_ones));
    }
}

extern "C" void epidemic_days(const int* contact, const unsigned char* start, unsigned char* state, int* cases,
                              unsigned chance, int ill, int people, int contacts, int days) {
    const int blocks = (people + 255) / 256, words = 8 * blocks;
    unsigned* sick;
    cudaMallocAsync(&sick, sizeof(unsigned) * 2 * words, 0);
    cudaMemsetAsync(cases, 0, sizeof(int) * days, 0);
    begin<<<blocks, 256>>>(start, state, sick, ill, people);
    for (int day = 0; day < days; ++day) {
        unsigned *today = sick + day % 2 * words, *tomorrow = sick + (day + 1) % 2 * words;
        one_day<<<blocks, 256>>>(contact, state, today, tomorrow, cases, chance, ill, people, contacts, day);
    }
    cudaFreeAsync(sick, 0);
}
