// 16 fights of a pair as lanes. All that still go on have thrown equally often, so one count of throws serves them, and
// who strikes first is the same for a whole pair. Pairs go to the threads.
#include <cstdint>

struct Fighter {
    int health, skill, armor, damage;
    int speed;
};

namespace {
constexpr int kLanes = 16;
typedef int32_t Ints __attribute__((vector_size(4 * kLanes)));
typedef uint32_t Words __attribute__((vector_size(4 * kLanes)));

inline Words thrown(Words seed, uint32_t count) {
    Words x = seed + 0x9e3779b9u * count;
    x ^= x >> 16;
    x *= 0x21f0aaadu;
    x ^= x >> 15;
    x *= 0x735a2d97u;
    x ^= x >> 15;
    return x;
}

// 1 to sides (less than 2^16): the upper word of the product, from two halves.
inline Ints roll(Words x, uint32_t sides) {
    return (Ints)(((x >> 16) * sides + ((x & 0xffffu) * sides >> 16)) >> 16) + 1;
}

// What a strike takes, before anybody looks who still stands.
inline Ints pain(Words seed, uint32_t count, const Fighter& by, const Fighter& at) {
    const Ints hit = roll(thrown(seed, count), 20), damage = roll(thrown(seed, count + 1), by.damage);
    const Ints strikes = (hit != 1) & (hit >= at.armor - by.skill), hard = hit == 20;
    return hard ? 2 * damage : strikes ? damage : 0;
}

inline int sum(Ints v) {
    int s = 0;
    for (int l = 0; l < kLanes; ++l) s += v[l];
    return s;
}

inline bool any(Ints v) {
    int s = 0;
    for (int l = 0; l < kLanes; ++l) s |= v[l];
    return s != 0;
}
}  // namespace

extern "C" void battle_odds(const Fighter* __restrict attackers, const Fighter* __restrict defenders,
                            int* __restrict wins, int* __restrict rounds, unsigned seed, int pairs, int trials) {
    const Ints lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#pragma omp parallel for schedule(dynamic, 4)
    for (int p = 0; p < pairs; ++p) {
        const bool attacks = attackers[p].speed >= defenders[p].speed;
        const Fighter first = attacks ? attackers[p] : defenders[p], second = attacks ? defenders[p] : attackers[p];
        Ints won = {}, played = {};
        for (int begin = 0; begin < trials; begin += kLanes) {
            const Words dice = seed ^ (uint32_t)p * 0x85ebca6bu ^ (Words)(lane + begin) * 0xc2b2ae35u;
            const Ints fights = lane + begin < trials;
            Ints one = first.health - Ints{}, other = second.health - Ints{};
            Ints on = fights & (one > 0) & (other > 0);
            for (uint32_t round = 0; round < 40 && any(on); ++round) {
                played -= on;
                other -= on & pain(dice, 4 * round + 1, first, second);
                on &= other > 0;
                one -= on & pain(dice, 4 * round + 3, second, first);
                on &= one > 0;
            }
            won -= fights & ((attacks ? other : one) <= 0);
        }
        wins[p] = sum(won);
        rounds[p] = sum(played);
    }
}
