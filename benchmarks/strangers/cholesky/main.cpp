#include <cstdio>
#include <vector>

void cholesky(double *a, int n);

int main()
{
    const int n = 60;
    std::vector<double> a(n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = 1.0 / (1.0 + (i > j ? i - j : j - i)) + (i == j ? 4.0 : 0.0);
    cholesky(a.data(), n);
    double sum = 0;
    for (int i = 0; i < n * n; i++) sum += a[i] * (1 + i % 9);
    printf("%.9f\n", sum);
}
