// first openmp: blocked-scan
// first cuda: cub-primitives decoupled-lookback
#include <vector>
std::vector<long> balances(const std::vector<long>& booked, long opening) {
    std::vector<long> after(booked.size());
    long now = opening;
    for (size_t day = 0; day < booked.size(); ++day) {
        now += booked[day];
        after[day] = now;
    }
    return after;
}
