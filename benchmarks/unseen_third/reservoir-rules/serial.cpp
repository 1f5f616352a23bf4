// A reservoir is run by its rules through scenarios of daily inflow (million cubic metres). Below a third of the
// storage it can use, it gives less than what is asked for; above nine tenths of its capacity it lets water go early.
#include <algorithm>
#include <cstddef>

static double evaporation(double storage, double capacity) {
    return 0.002 * storage + 0.0005 * storage * storage / capacity;
}

static double supply(double storage, double asked, double capacity, double dead) {
    const double usable = storage - dead;
    if (usable <= 0) return 0;
    const double low = (capacity - dead) / 3;
    const double wanted = usable < low ? asked * usable / low : asked;
    return std::min(wanted, usable);
}

static double early_release(double storage, double capacity) {
    const double mark = 0.9 * capacity;
    return storage > mark ? 0.25 * (storage - mark) : 0;
}

extern "C" void reservoir_rules(const double* inflow, const double* demand, double* shortage, double* spill,
                                int* failures, double* last, double capacity, double dead, int scenarios, int days) {
    for (int s = 0; s < scenarios; ++s) {
        double storage = 0.5 * capacity;
        double missed = 0, spilled = 0;
        int failed = 0;
        for (int d = 0; d < days; ++d) {
            storage += inflow[(size_t)s * days + d];
            storage -= evaporation(storage, capacity);

            const double given = supply(storage, demand[d], capacity, dead);
            storage -= given;
            missed += demand[d] - given;
            if (given < 0.75 * demand[d]) ++failed;

            double over = early_release(storage, capacity);
            storage -= over;
            if (storage > capacity) {
                over += storage - capacity;
                storage = capacity;
            }
            spilled += over;
        }
        shortage[s] = missed;
        spill[s] = spilled;
        failures[s] = failed;
        last[s] = storage;
    }
}
