// A warp per station. A ballot makes a word of 32 days; each lane sees from it how long the run is that ends on its
// day, so no lane waits for another, and the warp joins its lanes' longest runs at the end.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) heat(const float* __restrict__ temperature, double* __restrict__ degree_days,
                                            int* __restrict__ spells, int* __restrict__ longest,
                                            int* __restrict__ first_day, float base, float hot, int stations,
                                            int days) {
    constexpr unsigned all = 0xffffffffu;
    const int lane = threadIdx.x % 32, s = blockIdx.x * 8 + threadIdx.x / 32;
    if (s >= stations) return;
    const float* row = temperature + (size_t)s * days;
    double sum = 0;
    int count = 0, best = 0, begin = -1, run = 0;  // run: hot days just before the word
#pragma unroll 4
    for (int first = 0; first < days; first += 32) {
        const int d = first + lane;
        const float t = d < days ? row[d] : base;
        const bool is_hot = d < days && t > hot;
        if (t > base) sum += (double)t - (double)base;
        const unsigned word = __ballot_sync(all, is_hot);
        count += __popc(word & ~(word << 1 | (run > 0)));
        int length = __clz(~(word << (31 - lane)));  // hot days up to and with the lane's
        if (length > lane) length = lane + 1 + run;
        if (length > best) {
            best = length;
            begin = d - length + 1;
        }
        run = word == all ? run + 32 : __clz(~word);
    }
    for (int step = 16; step; step /= 2) {
        sum += __shfl_xor_sync(all, sum, step);
        const int other = __shfl_xor_sync(all, best, step), its = __shfl_xor_sync(all, begin, step);
        if (other > best || (other == best && its < begin)) {
            best = other;
            begin = its;
        }
    }
    if (lane == 0) {
        degree_days[s] = sum;
        spells[s] = count;
        longest[s] = best;
        first_day[s] = begin;
    }
}

extern "C" void heat_spells(const float* temperature, double* degree_days, int* spells, int* longest, int* first_day,
                            float base, float hot, int stations, int days) {
    heat<<<(stations + 7) / 8, 256>>>(temperature, degree_days, spells, longest, first_day, base, hot, stations, days);
}
