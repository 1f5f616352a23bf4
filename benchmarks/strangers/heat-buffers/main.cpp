#include <cstdio>
#include <vector>

namespace thermal {
void simulate_plate(std::vector<double>& u, std::size_t rows, std::size_t cols, int steps, double r);
}

int main() {
    double total = 0;
    for (int steps : {0, 1, 2, 37}) {
        const std::size_t rows = 41, cols = 29;
        std::vector<double> u(rows * cols);
        for (std::size_t i = 0; i < u.size(); ++i) u[i] = (i * 7919 % 101) / 101.0;
        thermal::simulate_plate(u, rows, cols, steps, 0.2);
        double sum = 0;
        for (std::size_t i = 0; i < u.size(); ++i) sum += u[i] * (i % 13);
        std::printf("%d steps: %.9f\n", steps, sum);
        total += sum;
    }
    std::printf("%.9f\n", total);
}
