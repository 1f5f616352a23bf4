#include <cstdio>
#include <utility>
#include <vector>

double coveredLength(std::vector<std::pair<double, double>> intervals);

int main() {
    for (int n : {0, 1, 7, 5000}) {
        std::vector<std::pair<double, double>> v;
        for (int i = 0; i < n; ++i) {
            const double a = i * 7919 % 10007;
            v.emplace_back(a, a + i % 5 * 40.5 - 0.25);
        }
        std::printf("%.4f\n", coveredLength(v));
    }
}
