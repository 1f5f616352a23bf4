// Heat in daily temperatures of weather stations: degree days above a base, and hot spells (runs of hot days):
// how many, how long the longest is, and on which day the first of the longest began (-1: none).
#include <algorithm>
#include <cstddef>

template <typename Real>
double degree_days_of(const Real* temperature, int days, Real base) {
    double sum = 0;
    for (int d = 0; d < days; ++d) {
        sum += std::max(0.0, (double)temperature[d] - (double)base);
    }
    return sum;
}

template <typename Real>
struct HotAbove {
    Real limit;
    bool operator()(Real t) const { return t > limit; }
};

template <typename Real, typename Hot>
void spells_of(const Real* temperature, int days, Hot hot, int& spells, int& longest, int& first_day) {
    spells = 0;
    longest = 0;
    first_day = -1;
    int run = 0;
    for (int d = 0; d < days; ++d) {
        if (!hot(temperature[d])) {
            run = 0;
            continue;
        }
        if (run == 0) ++spells;
        ++run;
        if (run > longest) {
            longest = run;
            first_day = d - run + 1;
        }
    }
}

extern "C" void heat_spells(const float* temperature, double* degree_days, int* spells, int* longest, int* first_day,
                            float base, float hot, int stations, int days) {
    for (int s = 0; s < stations; ++s) {
        const float* row = temperature + (size_t)s * days;
        degree_days[s] = degree_days_of(row, days, base);
        spells_of(row, days, HotAbove<float>{hot}, spells[s], longest[s], first_day[s]);
    }
}
