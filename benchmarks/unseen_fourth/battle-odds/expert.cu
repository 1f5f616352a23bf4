// A warp per pair, a lane per fight; a lane whose fight is over takes the next one at once, so that no lane waits for
// the longest. Who strikes first is the same for a whole pair.
#include <cuda_runtime.h>

struct Fighter {
    int health, skill, armor, damage;
    int speed;
};

__device__ __forceinline__ unsigned thrown(unsigned seed, unsigned count) {
    unsigned x = seed + 0x9e3779b9u * count;
    x ^= x >> 16;
    x *= 0x21f0aaadu;
    x ^= x >> 15;
    x *= 0x735a2d97u;
    x ^= x >> 15;
    return x;
}

// What a strike takes from whom it is aimed at.
__device__ __forceinline__ int pain(unsigned seed, unsigned count, int damage, int least) {
    const int hit = 1 + (int)__umulhi(thrown(seed, count), 20u);
    const int taken = 1 + (int)__umulhi(thrown(seed, count + 1u), (unsigned)damage);
    return hit == 20 ? 2 * taken : (hit != 1 && hit >= least) ? taken : 0;
}

__global__ void __launch_bounds__(128) run(const Fighter* __restrict__ attackers, const Fighter* __restrict__ defenders,
                                           int* __restrict__ wins, int* __restrict__ rounds, unsigned seed, int pairs,
                                           int trials) {
    const int p = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (p >= pairs) return;  // a whole warp
    const Fighter a = attackers[p], d = defenders[p];
    const bool attacks = a.speed >= d.speed;
    const Fighter first = attacks ? a : d, second = attacks ? d : a;
    const int first_needs = second.armor - first.skill, second_needs = first.armor - second.skill;
    int won = 0, played = 0, trial = lane, round = 0, one = first.health, other = second.health;
    while (trial < trials) {
        const unsigned dice = seed ^ (unsigned)p * 0x85ebca6bu ^ (unsigned)trial * 0xc2b2ae35u;
        bool over = one <= 0 || other <= 0 || round == 40;
        if (!over) {
            other -= pain(dice, 4u * round + 1u, first.damage, first_needs);
            if (other > 0) one -= pain(dice, 4u * round + 3u, second.damage, second_needs);
            ++round;
            ++played;
            over = one <= 0 || other <= 0 || round == 40;
        }
        if (over) {
            won += (attacks ? other : one) <= 0;
            trial += 32;
            round = 0;
            one = first.health;
            other = second.health;
        }
    }
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) {
        won += __shfl_xor_sync(0xffffffffu, won, step);
        played += __shfl_xor_sync(0xffffffffu, played, step);
    }
    if (lane == 0) {
        wins[p] = won;
        rounds[p] = played;
    }
}

extern "C" void battle_odds(const Fighter* attackers, const Fighter* defenders, int* wins, int* rounds, unsigned seed,
                            int pairs, int trials) {
    run<<<(pairs + 3) / 4, 128>>>(attackers, defenders, wins, rounds, seed, pairs, trials);
}
