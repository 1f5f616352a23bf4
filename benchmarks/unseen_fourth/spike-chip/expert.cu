// A launch per tick, a thread per neuron; a warp sends the wires of each of its neurons that fires, a lane per wire, by
// atomics into mail that stays in L2. What is sent arrives in another slot than the one that is being read.
#include <cuda_runtime.h>

#include <cstdint>

constexpr int kBlock = 128;

__global__ void __launch_bounds__(kBlock) one_tick(const int* __restrict__ target, const int8_t* __restrict__ weight,
                                                   const uint8_t* __restrict__ delay, const int* __restrict__ bias,
                                                   int* __restrict__ potential, int* __restrict__ fired,
                                                   int* __restrict__ per_tick, int* mail, int threshold,
                                                   int neurons, int fan, int slots, int tick) {
    const int i = blockIdx.x * kBlock + threadIdx.x, lane = threadIdx.x % 32, slot = tick % slots;
    bool fires = false;
    if (i < neurons) {
        int* box = mail + (size_t)slot * neurons + i;
        const int old = potential[i], v = old + *box + bias[i] - (old >> 4);
        *box = 0;
        fires = v >= threshold;
        potential[i] = fires ? 0 : v;
        if (fires) ++fired[i];
    }
    unsigned spikes = __ballot_sync(0xffffffffu, fires);
    if (lane == 0 && spikes) atomicAdd(per_tick + tick, __popc(spikes));
    for (; spikes; spikes &= spikes - 1u) {
        const size_t row = (size_t)(i - lane + __ffs(spikes) - 1) * fan;
        for (int k = lane; k < fan; k += 32) {
            int to = slot + delay[row + k];
            if (to >= slots) to -= slots;
            atomicAdd(mail + (size_t)to * neurons + target[row + k], (int)weight[row + k]);
        }
    }
}

extern "C" void spike_chip(const int* target, const int8_t* weight, const uint8_t* delay, const int* bias,
                           const int* start, int* potential, int* fired, int* per_tick, int threshold, int neurons,
                           int fan, int slots, int ticks) {
    const size_t boxes = (size_t)slots * neurons;
    int* mail;
    cudaMallocAsync(&mail, sizeof(int) * boxes, 0);
    cudaMemsetAsync(mail, 0, sizeof(int) * boxes, 0);
    cudaMemsetAsync(fired, 0, sizeof(int) * neurons, 0);
    cudaMemsetAsync(per_tick, 0, sizeof(int) * ticks, 0);
    cudaMemcpyAsync(potential, start, sizeof(int) * neurons, cudaMemcpyDeviceToDevice, 0);
    for (int tick = 0; tick < ticks; ++tick) {
        one_tick<<<(neurons + kBlock - 1) / kBlock, kBlock>>>(target, weight, delay, bias, potential, fired, per_tick,
                                                              mail, threshold, neurons, fan, slots, tick);
    }
    cudaFreeAsync(mail, 0);
}
