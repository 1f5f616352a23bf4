// Who wins how often: pairs of fighters of a game meet again and again, with dice from a hash, so that a designer can
// weigh their numbers. The quicker one strikes first. A fight that is not over after 40 rounds goes to the defender.
#include <cstdint>

struct Fighter {
    int health, skill, armor, damage;
    int speed;
};

struct Dice {
    uint32_t seed, thrown = 0;

    uint32_t next() {
        uint32_t x = seed + 0x9e3779b9u * ++thrown;
        x ^= x >> 16;
        x *= 0x21f0aaadu;
        x ^= x >> 15;
        x *= 0x735a2d97u;
        x ^= x >> 15;
        return x;
    }

    int roll(int sides) { return 1 + (int)((uint64_t)next() * sides >> 32); }
};

static void strike(const Fighter& by, const Fighter& at, int& health, Dice& dice) {
    const int hit = dice.roll(20);
    const int pain = dice.roll(by.damage);
    if (hit == 20) {
        health -= 2 * pain;
    } else if (hit != 1 && hit + by.skill >= at.armor) {
        health -= pain;
    }
}

extern "C" void battle_odds(const Fighter* attackers, const Fighter* defenders, int* wins, int* rounds, unsigned seed,
                            int pairs, int trials) {
    for (int p = 0; p < pairs; ++p) {
        const Fighter &a = attackers[p], &d = defenders[p];
        int won = 0, played = 0;
        for (int trial = 0; trial < trials; ++trial) {
            Dice dice{seed ^ (uint32_t)p * 0x85ebca6bu ^ (uint32_t)trial * 0xc2b2ae35u};
            int mine = a.health, theirs = d.health;
            for (int round = 0; round < 40 && mine > 0 && theirs > 0; ++round) {
                ++played;
                if (a.speed >= d.speed) {
                    strike(a, d, theirs, dice);
                    if (theirs > 0) strike(d, a, mine, dice);
                } else {
                    strike(d, a, mine, dice);
                    if (mine > 0) strike(a, d, theirs, dice);
                }
            }
            if (theirs <= 0) ++won;
        }
        wins[p] = won;
        rounds[p] = played;
    }
}
