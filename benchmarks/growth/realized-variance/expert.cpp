// Two sums slide, of the differences from the chunk's first return and of their squares, so that squares do not
// cancel. Four parts of a chunk run side by side, as each is one chain of additions. Each part begins with a whole
// sum, which also ends the drift.
#include <algorithm>

namespace {
constexpr int kPart = 1024, kParts = 4;

struct Sums {
    double linear = 0, square = 0;
    void add(double x) { linear += x, square += x * x; }
};

void spread(const Sums& sums, int count, double pivot, double* mean, double* variance) {
    const double shift = sums.linear / count;
    *mean = pivot + shift;
    *variance = std::max(0.0, sums.square / count - shift * shift);
}

void plain(const double* x, double* mean, double* variance, int days, int first, int last) {
    for (int i = first; i < last; ++i) {
        const int from = std::max(0, i + 1 - days);
        Sums sums;
        for (int j = from; j <= i; ++j) sums.add(x[j] - x[from]);
        spread(sums, i + 1 - from, x[from], &mean[i], &variance[i]);
    }
}

// One chunk of kPart * kParts days, all with whole windows.
void chunk(const double* x, double* mean, double* variance, int days, int first) {
    const double pivot = x[first];
    const double per_day = 1.0 / days;
    Sums sums[kParts];
    for (int p = 0; p < kParts; ++p) {
        const double* begin = x + first + p * kPart;
        for (int j = 1 - days; j < 0; ++j) sums[p].add(begin[j] - pivot);
    }
    for (int k = 0; k < kPart; ++k) {
        for (int p = 0; p < kParts; ++p) {
            const int i = first + p * kPart + k;
            sums[p].add(x[i] - pivot);
            const double shift = sums[p].linear * per_day;
            mean[i] = pivot + shift;
            variance[i] = std::max(0.0, sums[p].square * per_day - shift * shift);
            const double old = x[i + 1 - days] - pivot;
            sums[p].linear -= old;
            sums[p].square -= old * old;
        }
    }
}
}  // namespace

extern "C" void realized_variance(const double* __restrict returns, double* __restrict mean,
                                  double* __restrict variance, int days, int n) {
    const int head = std::min(n, days - 1);
    plain(returns, mean, variance, days, 0, head);
    constexpr int kChunk = kPart * kParts;
    const int chunks = (n - head) / kChunk;
#pragma omp parallel for schedule(static) if (chunks > 4)
    for (int c = 0; c < chunks; ++c) chunk(returns, mean, variance, days, head + c * kChunk);
    plain(returns, mean, variance, days, head + chunks * kChunk, n);
}
