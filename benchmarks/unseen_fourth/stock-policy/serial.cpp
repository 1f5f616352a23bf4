// What a store has to expect until the end of the season, for each week and each stock at its begin, if it always
// orders what costs least: an order costs a fixed sum and a price per piece, a piece left over its storage, a piece
// that was asked for in vain a penalty. The weights of a week's possible demands are made to add up to one.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

extern "C" void stock_policy(const double* weight, double* value, double fixed, double price, double storage,
                             double penalty, int weeks, int capacity, int demands) {
    const size_t states = capacity + 1;
    std::fill(value + weeks * states, value + (weeks + 1) * states, 0.0);
    std::vector<double> chance(demands);
    for (int week = weeks - 1; week >= 0; --week) {
        const double* row = weight + (size_t)week * demands;
        const double total = std::accumulate(row, row + demands, 0.0);
        for (int d = 0; d < demands; ++d) chance[d] = row[d] / total;
        const double* later = value + (week + 1) * states;
        for (int stock = 0; stock <= capacity; ++stock) {
            double least = 0;
            for (int order = 0; stock + order <= capacity; ++order) {
                double cost = order > 0 ? fixed + price * order : 0;
                for (int d = 0; d < demands; ++d) {
                    const int left = stock + order - d;
                    if (left >= 0) {
                        cost += chance[d] * (storage * left + later[left]);
                    } else {
                        cost += chance[d] * (penalty * -left + later[0]);
                    }
                }
                if (order == 0 || cost < least) least = cost;
            }
            value[week * states + stock] = least;
        }
    }
}
