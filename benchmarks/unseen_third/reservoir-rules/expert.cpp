// Days depend on each other, scenarios do not: 16 scenarios are the lanes of vectors, rules are selects, divisions by
// what never changes are products. Inflow is turned round in tiles of 64 days.
#include <algorithm>
#include <cstddef>

namespace {
constexpr int kLanes = 16, kDays = 64;

struct Lanes {
    alignas(64) double storage[kLanes], missed[kLanes], spilled[kLanes], failed[kLanes];
};
}  // namespace

extern "C" void reservoir_rules(const double* __restrict inflow, const double* __restrict demand,
                                double* __restrict shortage, double* __restrict spill, int* __restrict failures,
                                double* __restrict last, double capacity, double dead, int scenarios, int days) {
    const double per_capacity = 0.0005 / capacity, per_low = 3 / (capacity - dead), low = (capacity - dead) / 3;
    const double mark = 0.9 * capacity;
#pragma omp parallel for schedule(static)
    for (int first = 0; first < scenarios; first += kLanes) {
        const int count = std::min(kLanes, scenarios - first);
        Lanes l;
        for (int k = 0; k < kLanes; ++k) {
            l.storage[k] = 0.5 * capacity;
            l.missed[k] = l.spilled[k] = l.failed[k] = 0;
        }
        alignas(64) double in[kDays][kLanes];
        for (int begin = 0; begin < days; begin += kDays) {
            const int here = std::min(kDays, days - begin);
            for (int k = 0; k < kLanes; ++k) {  // the last scenario fills the lanes
                const double* row = inflow + (size_t)(first + std::min(k, count - 1)) * days + begin;
                for (int d = 0; d < here; ++d) in[d][k] = row[d];
            }
            for (int d = 0; d < here; ++d) {
                const double asked = demand[begin + d], enough = 0.75 * asked;
#pragma omp simd
                for (int k = 0; k < kLanes; ++k) {
                    double storage = l.storage[k] + in[d][k];
                    storage -= 0.002 * storage + storage * storage * per_capacity;
                    const double usable = storage - dead;
                    const double wanted = usable < low ? asked * usable * per_low : asked;
                    const double most = wanted < usable ? wanted : usable;
                    const double given = usable > 0 ? most : 0;
                    storage -= given;
                    l.missed[k] += asked - given;
                    l.failed[k] += given < enough ? 1.0 : 0.0;
                    const double early = storage > mark ? 0.25 * (storage - mark) : 0;
                    storage -= early;
                    const double over = storage > capacity ? storage - capacity : 0;
                    l.storage[k] = storage > capacity ? capacity : storage;
                    l.spilled[k] += early + over;
                }
            }
        }
        for (int k = 0; k < count; ++k) {
            shortage[first + k] = l.missed[k];
            spill[first + k] = l.spilled[k];
            failures[first + k] = (int)l.failed[k];
            last[first + k] = l.storage[k];
        }
    }
}
