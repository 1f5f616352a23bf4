#include <cstdio>
#include <vector>

namespace adi {
void solve_all(const std::vector<double>& a, const std::vector<double>& b,
               const std::vector<double>& c, std::vector<double>& d, std::size_t systems,
               std::size_t n);
}

int main() {
    for (std::size_t n : {1, 2, 50}) {
        const std::size_t systems = 33;
        std::vector<double> a(systems * n), b(systems * n), c(systems * n), d(systems * n);
        for (std::size_t i = 0; i < systems * n; ++i) {
            a[i] = 1.0 + i % 3;
            c[i] = 0.5 + i % 2;
            b[i] = 7.0 + i % 5;
            d[i] = i % 19 - 9.0;
        }
        adi::solve_all(a, b, c, d, systems, n);
        double sum = 0;
        for (std::size_t i = 0; i < d.size(); ++i) sum += d[i] * (i % 7);
        std::printf("%zu: %.9f\n", n, sum);
    }
}
