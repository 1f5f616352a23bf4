// Five sums slide, of differences from the chunk's first voltages, so that squares do not cancel. They are five
// chains of additions side by side; the root and the division wait for a second loop over the chunk, as vector code.
// Each chunk begins with whole sums, which also ends the drift.
#pragma GCC optimize("no-math-errno", "no-trapping-math")  // else roots are not vectorized

#include <algorithm>
#include <cmath>

struct Voltages {
    double left, right;
};

namespace {
constexpr int kChunk = 1024;

struct Sums {
    double l = 0, r = 0, ll = 0, rr = 0, lr = 0;
    void add(double x, double y) { l += x, r += y, ll += x * x, rr += y * y, lr += x * y; }
    void drop(double x, double y) { l -= x, r -= y, ll -= x * x, rr -= y * y, lr -= x * y; }
};

void chunk(const Voltages* samples, double* __restrict coupling, int reach, int first, int last) {
    double both[kChunk], left[kChunk], right[kChunk];
    const Voltages pivot = samples[first];
    const double per = 1.0 / (2 * reach + 1);
    Sums sums;
    for (int j = first - reach; j < first + reach; ++j) {
        sums.add(samples[j].left - pivot.left, samples[j].right - pivot.right);
    }
    for (int i = first; i < last; ++i) {
        const Voltages in = samples[i + reach], out = samples[i - reach];
        sums.add(in.left - pivot.left, in.right - pivot.right);
        both[i - first] = sums.lr - sums.l * sums.r * per;
        left[i - first] = sums.ll - sums.l * sums.l * per;
        right[i - first] = sums.rr - sums.r * sums.r * per;
        sums.drop(out.left - pivot.left, out.right - pivot.right);
    }
#pragma omp simd
    for (int k = 0; k < last - first; ++k) {
        const double product = left[k] * right[k], spread = std::sqrt(product > 0 ? product : 0.0);
        const double found = both[k] / (spread > 1e-9 ? spread : 1.0);
        coupling[first + k] = spread > 1e-9 ? found : 0.0;
    }
}
}  // namespace

extern "C" void coupled_channels(const Voltages* __restrict samples, double* __restrict coupling, int reach, int n) {
    const int begin = std::min(reach, n), end = std::max(begin, n - reach);
    std::fill(coupling, coupling + begin, 0.0);
    std::fill(coupling + end, coupling + n, 0.0);
#pragma omp parallel for schedule(static) if (end - begin > 4 * kChunk)
    for (int first = begin; first < end; first += kChunk) {
        chunk(samples, coupling, reach, first, std::min(first + kChunk, end));
    }
}
