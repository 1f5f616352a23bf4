// Sixteen sites are the lanes of vectors. A leaf picks a column of its matrix instead of a product with zeros, and
// one array per thread holds the partial likelihoods of all nodes; bases
// are widened to the width of a double, which makes the choice of a column a select.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {
constexpr int kWide = 16;

struct alignas(64) Lanes {
    double at[4][kWide];
};

void leaf(const int64_t* __restrict base, const double* __restrict p, Lanes& product) {
    for (int a = 0; a < 4; ++a) {
        const double p0 = p[4 * a], p1 = p[4 * a + 1], p2 = p[4 * a + 2], p3 = p[4 * a + 3];
#pragma omp simd
        for (int t = 0; t < kWide; ++t) {
            const double low = base[t] & 1 ? p1 : p0, high = base[t] & 1 ? p3 : p2;
            product.at[a][t] *= base[t] & 2 ? high : low;
        }
    }
}

void inner(const Lanes& child, const double* __restrict p, Lanes& product) {
    for (int a = 0; a < 4; ++a) {
#pragma omp simd
        for (int t = 0; t < kWide; ++t) {
            product.at[a][t] *= p[4 * a] * child.at[0][t] + p[4 * a + 1] * child.at[1][t] +
                                p[4 * a + 2] * child.at[2][t] + p[4 * a + 3] * child.at[3][t];
        }
    }
}
}  // namespace

extern "C" void site_likelihoods(const unsigned char* bases, const double* transition, double* loglik, int sites,
                                 int leaves, int rates) {
    const int nodes = 2 * leaves - 1, inners = leaves - 1;
#pragma omp parallel
    {
        std::vector<Lanes> partial(std::max(inners, 1));
        std::vector<int64_t> base((size_t)leaves * kWide);
#pragma omp for schedule(static)
        for (int first = 0; first < sites; first += kWide) {
            const int count = std::min(kWide, sites - first);
            for (int t = 0; t < kWide; ++t) {
                const unsigned char* row = bases + (size_t)(first + std::min(t, count - 1)) * leaves;
                for (int k = 0; k < leaves; ++k) base[(size_t)k * kWide + t] = row[k];
            }
            double total[kWide] = {};
            for (int r = 0; r < rates; ++r) {
                for (int i = inners - 1; i >= 0; --i) {
                    Lanes product;
                    for (int a = 0; a < 4; ++a) std::fill(product.at[a], product.at[a] + kWide, 1.0);
                    for (int child = 2 * i + 1; child <= 2 * i + 2; ++child) {
                        const double* p = transition + 16 * ((size_t)r * nodes + child);
                        if (child < inners) inner(partial[child], p, product);
                        else leaf(base.data() + (size_t)(child - inners) * kWide, p, product);
                    }
                    partial[i] = product;
                }
                for (int t = 0; t < kWide; ++t) {
                    for (int a = 0; a < 4; ++a) total[t] += inners ? 0.25 * partial[0].at[a][t] : 0.25 * (base[t] == a);
                }
            }
            for (int t = 0; t < count; ++t) loglik[first + t] = std::log(total[t] / rates);
        }
    }
}
