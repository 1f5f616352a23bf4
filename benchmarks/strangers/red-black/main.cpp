#include <cstdio>
#include <vector>

int relaxPressure(double *p, const double *rhs, int nx, int ny, double h, double omega, double eps,
                  int maxSweeps);

int main() {
    for (int nx : {1, 20, 33}) {
        const int ny = 25;
        std::vector<double> p((nx + 2) * (ny + 2), 0.0), rhs(p.size());
        for (std::size_t i = 0; i < rhs.size(); ++i) rhs[i] = i % 13 - 6.0;
        const int sweeps = relaxPressure(p.data(), rhs.data(), nx, ny, 0.1, 1.5, 1e-7, 300);
        double sum = 0;
        for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] * (i % 5 + 1);
        std::printf("%d %.7f\n", sweeps, sum);
    }
}
