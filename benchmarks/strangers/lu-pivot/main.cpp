#include <cstdio>
#include <vector>

int LU_decompose(double *A, int N, double tol, int *perm);

int main() {
    for (int n : {1, 2, 90}) {
        std::vector<double> a(n * n);
        std::vector<int> perm(n);
        for (int i = 0; i < n * n; ++i) a[i] = i * i * 31LL % 1009 / 100.9 - 5.0;
        const int status = LU_decompose(a.data(), n, 1e-12, perm.data());
        double sum = 0;
        for (int i = 0; i < n * n; ++i) sum += a[i] / (1 + i % 7);
        unsigned order = 0;
        for (int p : perm) order = order * 31 + p;
        std::printf("%d %.6f %u\n", status, sum, order);
    }
    std::vector<double> zero(9, 0.0);
    std::vector<int> perm(3);
    std::printf("%d\n", LU_decompose(zero.data(), 3, 1e-12, perm.data()));
}
