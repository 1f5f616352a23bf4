#include <cmath>
#include <cstddef>
#include <vector>

// Many independent tridiagonal systems, as from an ADI step: a x[i-1] + b x[i] + c x[i+1] = d.

namespace adi {

using Field = std::vector<double>;

inline std::size_t at(std::size_t system, std::size_t i, std::size_t n) { return system * n + i; }

void solve_all(const Field& a, const Field& b, const Field& c, Field& d, std::size_t systems,
               std::size_t n) {
    if (n == 0) return;
    std::vector<double> cp(n);
    for (std::size_t s = 0; s < systems; ++s) {
        // forward sweep
        cp[0] = c[at(s, 0, n)] / b[at(s, 0, n)];
        d[at(s, 0, n)] /= b[at(s, 0, n)];
        for (std::size_t i = 1; i < n; ++i) {
            const double m = 1.0 / (b[at(s, i, n)] - a[at(s, i, n)] * cp[i - 1]);
            cp[i] = c[at(s, i, n)] * m;
            d[at(s, i, n)] = (d[at(s, i, n)] - a[at(s, i, n)] * d[at(s, i - 1, n)]) * m;
        }
        // back substitution
        for (std::size_t i = n - 1; i-- > 0;) d[at(s, i, n)] -= cp[i] * d[at(s, i + 1, n)];
    }
}

double residual(const Field& x, const Field& y) {
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) worst = std::fmax(worst, std::fabs(x[i] - y[i]));
    return worst;
}

}  // namespace adi
