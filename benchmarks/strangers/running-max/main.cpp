#include <cstdio>
#include <vector>

void drawdown(const std::vector<double> &price, std::vector<double> &peak, std::vector<double> &drawdown);

int main()
{
    std::vector<double> p(2000), peak(2000), down(2000);
    double x = 100;
    unsigned s = 99;
    for (auto &v : p) {
        s = s * 1664525u + 1013904223u;
        x *= 1.0 + (double(s >> 8) / (1 << 24) - 0.499) * 0.02;
        v = x;
    }
    drawdown(p, peak, down);
    double a = 0, b = 0;
    for (std::size_t i = 0; i < p.size(); ++i) { a += peak[i]; b += down[i] * (i % 3); }
    printf("%.6f %.6f\n", a, b);
}
