#include <cstdio>
#include <vector>

void price_puts(const double* spot, const double* strike, const double* years, double* price, int n, int steps,
                double rate, double vol);

int main()
{
    const int n = 24;
    std::vector<double> s(n), k(n), t(n), p(n);
    for (int i = 0; i < n; ++i) {
        s[i] = 80 + 2 * i;
        k[i] = 100;
        t[i] = 0.25 + 0.1 * i;
    }
    price_puts(s.data(), k.data(), t.data(), p.data(), n, 50, 0.03, 0.25);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += p[i] * (1 + i % 3);
    printf("%.8f\n", sum);
}
