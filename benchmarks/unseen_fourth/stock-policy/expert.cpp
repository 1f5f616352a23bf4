// What a week costs depends on stock and order only by their sum, so each sum is looked at once; the best order is
// then a least value over all greater sums, taken from the end. That is so little that one thread does it fastest:
// sums as lanes, demands outside.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace {
constexpr int kLanes = 32;
}

extern "C" void stock_policy(const double* __restrict weight, double* __restrict value, double fixed, double price,
                             double storage, double penalty, int weeks, int capacity, int demands) {
    const int states = capacity + 1, padded = (states + kLanes - 1) / kLanes * kLanes;
    std::vector<double> outcome(demands + padded), expected(padded);  // outcome of what is left, from 1 - demands on
    double* const left = outcome.data() + demands - 1;
    std::fill(value + (size_t)weeks * states, value + (size_t)(weeks + 1) * states, 0.0);
    for (int week = weeks - 1; week >= 0; --week) {
        const double* __restrict row = weight + (size_t)week * demands;
        const double* __restrict later = value + (size_t)(week + 1) * states;
        double total = 0;
        for (int d = 0; d < demands; ++d) total += row[d];
        for (int i = 1 - demands; i < 0; ++i) left[i] = penalty * -i + later[0];
        for (int i = 0; i < states; ++i) left[i] = storage * i + later[i];
        const double scale = 1 / total;
        for (int begin = 0; begin < states; begin += kLanes) {
            double sum[kLanes] = {};
            for (int d = 0; d < demands; ++d) {
                const double* __restrict from = left + begin - d;
#pragma omp simd
                for (int l = 0; l < kLanes; ++l) sum[l] += row[d] * from[l];
            }
            for (int l = 0; l < kLanes; ++l) expected[begin + l] = sum[l] * scale;
        }
        double* __restrict now = value + (size_t)week * states;
        double least = std::numeric_limits<double>::infinity();  // of a greater sum, its pieces paid from 0 on
        for (int stock = capacity; stock >= 0; --stock) {
            now[stock] = std::min(expected[stock], fixed - price * stock + least);
            least = std::min(least, expected[stock] + price * stock);
        }
    }
}
