// A thread per scenario, a warp per block: there are few, so each has a processor for itself. Inflow comes in tiles of
// 32 scenarios and 32 days, turned round in shared memory; the next tile is under way meanwhile.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(32) run(const double* __restrict__ inflow, const double* __restrict__ demand,
                                          double* __restrict__ shortage, double* __restrict__ spill,
                                          int* __restrict__ failures, double* __restrict__ last, double capacity,
                                          double dead, int scenarios, int days) {
    __shared__ double tile[32][33];
    __shared__ double asked_for[32];
    const int lane = threadIdx.x, first = blockIdx.x * 32, s = first + lane;
    const double per_capacity = 0.0005 / capacity, per_low = 3.0 / (capacity - dead), low = (capacity - dead) / 3.0;
    const double mark = 0.9 * capacity;
    double storage = 0.5 * capacity, missed = 0.0, spilled = 0.0;
    int failed = 0;
    double next[32], wish;
    auto fetch = [&](int begin) {
        const int d = begin + lane;
        wish = d < days ? demand[d] : 0.0;
#pragma unroll
        for (int k = 0; k < 32; ++k) {
            next[k] = d < days && first + k < scenarios ? inflow[(size_t)(first + k) * days + d] : 0.0;
        }
    };
    fetch(0);
    for (int begin = 0; begin < days; begin += 32) {
        __syncwarp();
#pragma unroll
        for (int k = 0; k < 32; ++k) tile[k][lane] = next[k];
        asked_for[lane] = wish;
        __syncwarp();
        fetch(begin + 32);
        const int here = min(32, days - begin);
        for (int d = 0; d < here; ++d) {
            const double asked = asked_for[d];
            storage += tile[lane][d];
            storage -= 0.002 * storage + storage * storage * per_capacity;
            const double usable = storage - dead;
            const double wanted = usable < low ? asked * usable * per_low : asked;
            const double given = usable > 0.0 ? fmin(wanted, usable) : 0.0;
            storage -= given;
            missed += asked - given;
            failed += given < 0.75 * asked;
            const double early = storage > mark ? 0.25 * (storage - mark) : 0.0;
            storage -= early;
            spilled += early + fmax(storage - capacity, 0.0);
            storage = fmin(storage, capacity);
        }
    }
    if (s < scenarios) {
        shortage[s] = missed;
        spill[s] = spilled;
        failures[s] = failed;
        last[s] = storage;
    }
}

extern "C" void reservoir_rules(const double* inflow, const double* demand, double* shortage, double* spill,
                                int* failures, double* last, double capacity, double dead, int scenarios, int days) {
    run<<<(scenarios + 31) / 32, 32>>>(inflow, demand, shortage, spill, failures, last, capacity, dead, scenarios,
                                       days);
}
