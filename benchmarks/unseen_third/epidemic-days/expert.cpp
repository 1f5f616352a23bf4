// Who is infectious is a bit, so that all people's fit into L1; only the healthy look at their contacts, and only
// meetings with infectious ones draw a number. Words of 64 people go to the threads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {
inline uint32_t draw(uint32_t day, uint32_t person, uint32_t meeting) {
    uint32_t x = day * 0x9e3779b1u ^ person * 0x85ebca77u ^ meeting * 0xc2b2ae3du;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

// Whether somebody falls ill today: the meetings with infectious people as bits, 32 at a time.
inline bool falls_ill(const int* __restrict contact, int contacts, const uint32_t* __restrict sick, uint32_t day,
                      uint32_t person, uint32_t chance) {
    for (int first = 0; first < contacts; first += 32) {
        const int here = std::min(32, contacts - first);
        uint32_t met = 0;
        for (int c = 0; c < here; ++c) {
            const uint32_t other = (uint32_t)contact[first + c];
            met |= (sick[other / 32] >> other % 32 & 1) << c;
        }
        for (; met; met &= met - 1) {
            if (draw(day, person, first + __builtin_ctz(met)) < chance) return true;
        }
    }
    return false;
}
}  // namespace

extern "C" void epidemic_days(const int* __restrict contact, const unsigned char* __restrict start,
                              unsigned char* __restrict state, int* __restrict cases, unsigned chance, int ill,
                              int people, int contacts, int days) {
    const int words = (people + 31) / 32;
    std::vector<uint32_t> bits[2] = {std::vector<uint32_t>(words), std::vector<uint32_t>(words)};
    std::fill(cases, cases + days, 0);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int word = 0; word < words; ++word) {
            uint32_t sick = 0;
            for (int p = 32 * word; p < std::min(people, 32 * word + 32); ++p) {
                state[p] = start[p];
                sick |= (uint32_t)(start[p] > 0 && start[p] <= ill) << p % 32;
            }
            bits[0][word] = sick;
        }
        for (int day = 0; day < days; ++day) {
            const uint32_t* today = bits[day % 2].data();
            uint32_t* tomorrow = bits[(day + 1) % 2].data();
            int fresh = 0;
#pragma omp for schedule(dynamic, 64) nowait
            for (int word = 0; word < words; ++word) {
                uint32_t sick = 0;
                for (int p = 32 * word; p < std::min(people, 32 * word + 32); ++p) {
                    int next = state[p];
                    if (next == 0) {
                        next = falls_ill(contact + (size_t)p * contacts, contacts, today, day, p, chance);
                        fresh += next;
                    } else if (next <= ill) {
                        ++next;
                    }
                    state[p] = (unsigned char)next;
                    sick |= (uint32_t)(next > 0 && next <= ill) << p % 32;
                }
                tomorrow[word] = sick;
            }
#pragma omp atomic
            cases[day] += fresh;
#pragma omp barrier
        }
    }
}
