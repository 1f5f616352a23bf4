// An epidemic among people who each meet the same few others every day. State: 0 healthy, 1 to ill: day of the
// illness, ill + 1: over, and immune. Chance is out of 2^32 per meeting; draws come from a hash, so a run can be
// repeated.
#include <cstddef>
#include <cstdint>
#include <vector>

static uint32_t draw(uint32_t day, uint32_t person, uint32_t meeting) {
    uint32_t x = day * 0x9e3779b1u ^ person * 0x85ebca77u ^ meeting * 0xc2b2ae3du;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

extern "C" void epidemic_days(const int* contact, const unsigned char* start, unsigned char* state, int* cases,
                              unsigned chance, int ill, int people, int contacts, int days) {
    std::vector<unsigned char> today(start, start + people), tomorrow(people);
    for (int day = 0; day < days; ++day) {
        cases[day] = 0;
        for (int p = 0; p < people; ++p) {
            unsigned char next = today[p];
            if (next > 0 && next <= ill) {
                ++next;
            } else if (next == 0) {
                for (int c = 0; c < contacts; ++c) {
                    const int other = today[contact[(size_t)p * contacts + c]];
                    if (other > 0 && other <= ill && draw(day, p, c) < chance) {
                        next = 1;
                        ++cases[day];
                        break;
                    }
                }
            }
            tomorrow[p] = next;
        }
        today.swap(tomorrow);
    }
    for (int p = 0; p < people; ++p) state[p] = today[p];
}
